//! The tree of calling contexts of one heap.
//!
//! A node is a call chain: its parent's, and one frame more. Nodes never move or go, so another thread may read
//! those below the published count at any time. A node remembers the children that were asked for last; the
//! others are found in a hash table.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, compiler_fence};

use hashbrown::HashTable;

use crate::arena::{Arena, Zeroable, new_zeroed};
use crate::location::FrameKey;

/// Children that a node remembers.
const REMEMBERED: usize = 4;

/// A calling context. Half a cache line.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Node {
    /// The frame that this node adds to its parent's chain.
    pub key: FrameKey,
    /// Index of the parent; 0 at the top.
    pub parent: u32,
    /// Number of its latest counter record, which names the next; 0 where nothing was allocated.
    pub record: AtomicU32,
    /// The children asked for last: index, and a tag of the key in the high bits. 0: none. The owner's alone.
    children: [u32; REMEMBERED],
}

/// Nodes of a tree at most: what is left of 32 bits beside a child's tag.
const INDEX_BITS: u32 = 23;
const INDEX: u32 = (1 << INDEX_BITS) - 1;

/// The tag of a key, in place.
#[inline(always)]
fn tag(key: FrameKey) -> u32 {
    (key.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 & !INDEX
}

const _: () = assert!(size_of::<Node>() == 32);

const CHUNK: usize = 1024;
const CHUNKS: usize = (INDEX as usize + 1) / CHUNK;

struct Chunk([Node; CHUNK]);

// SAFETY: integers; the key of all zeros is a key.
unsafe impl Zeroable for Chunk {}

/// Index that is no node's.
pub const NO_NODE: u32 = 0;

/// Contexts over all heaps of the process.
static TOTAL: AtomicU32 = AtomicU32::new(0);

/// In a child after a fork: the trees of before are no longer there.
pub fn forget_all() {
    TOTAL.store(0, Ordering::Relaxed);
}

/// The tree.
pub struct Tree {
    chunks: [AtomicPtr<Chunk>; CHUNKS],
    /// Nodes made so far; index 0 is taken by [`NO_NODE`].
    count: AtomicU32,
    /// Contexts over all heaps at which new ones are refused.
    limit: u32,
    /// The nodes by parent and key.
    children: Option<HashTable<u32, Arena>>,
    /// Whether `children` is being changed.
    changing: AtomicBool,
}

// SAFETY: integers, raw pointers, and `Option<HashTable>`, whose `None` is all zeros because the table's control
// pointer is never null (the test below would notice if that changed).
unsafe impl Zeroable for Tree {}

#[inline(always)]
fn hash(parent: u32, key: FrameKey) -> u64 {
    let mixed =
        u128::from(key.0 ^ u64::from(parent).wrapping_mul(0x9e37_79b9_7f4a_7c15)) * 0xe703_7ed1_a0b4_28db;
    (mixed >> 64) as u64 ^ mixed as u64
}

impl Tree {
    /// Makes an all-zero tree ready for use; false without memory. `limit`: contexts over all heaps at which new
    /// ones are refused.
    #[must_use]
    pub fn start(&mut self, limit: u32) -> bool {
        self.limit = limit;
        self.children = Some(HashTable::new_in(Arena));
        // Index 0 has a place, so that it may be asked for its children: it has none that it remembers.
        let Some(chunk) = new_zeroed::<Chunk>() else { return false };
        self.chunks[0].store(chunk, Ordering::Release);
        self.count.store(1, Ordering::Relaxed);
        true
    }

    /// Nodes, including the unused index 0.
    pub fn len(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Whether there is no context yet.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// A node below [`Tree::len`].
    #[inline]
    pub fn node(&self, index: u32) -> &Node {
        let chunk = self.chunks[index as usize / CHUNK % CHUNKS].load(Ordering::Relaxed);
        debug_assert!(index < self.len() && !chunk.is_null());
        // SAFETY: an index below the count has its chunk, and chunks are never freed.
        unsafe { &(*chunk).0[index as usize % CHUNK] }
    }

    /// The frames of a context, innermost first, as keys.
    pub fn frames(&self, mut node: u32) -> impl Iterator<Item = FrameKey> + '_ {
        core::iter::from_fn(move || {
            let this = (node != NO_NODE).then(|| self.node(node))?;
            node = this.parent;
            Some(this.key)
        })
    }

    /// The child of `parent` by `key`, made now if it is not there. [`NO_NODE`] when there are too many contexts
    /// or no memory.
    #[inline]
    pub fn child(&mut self, parent: u32, key: FrameKey) -> u32 {
        let tag = tag(key);
        for remembered in self.node(parent).children {
            let index = remembered & INDEX;
            if remembered & !INDEX == tag && index != NO_NODE && self.node(index).key == key {
                return index;
            }
        }
        self.child_by_hash(parent, key)
    }

    /// [`Tree::child`] for one that the parent does not remember.
    #[inline(never)]
    fn child_by_hash(&mut self, parent: u32, key: FrameKey) -> u32 {
        let hash = hash(parent, key);
        let found = self.children.as_ref().and_then(|children| {
            children.find(hash, |&index| {
                let node = self.node(index);
                node.key == key && node.parent == parent
            })
        });
        let index = match found {
            Some(&index) => index,
            None => self.add(parent, key, hash, self.limit),
        };
        if index != NO_NODE && parent != NO_NODE {
            let children = &mut self.node_mut(parent).children;
            children.rotate_right(1);
            children[0] = index | tag(key);
        }
        index
    }

    /// A node, to be changed by the owner.
    #[inline]
    pub fn node_mut(&mut self, index: u32) -> &mut Node {
        let chunk = self.chunks[index as usize / CHUNK % CHUNKS].load(Ordering::Relaxed);
        debug_assert!(index < self.len() && !chunk.is_null());
        // SAFETY: as in `node`. Others read `key` and `parent`, which do not change, and `record`, which is atomic.
        unsafe { &mut (*chunk).0[index as usize % CHUNK] }
    }

    /// As [`Tree::child`], but makes contexts beyond the limit, for chains that were cut to stay near it.
    pub fn child_beyond_limit(&mut self, parent: u32, key: FrameKey) -> u32 {
        let limit = core::mem::replace(&mut self.limit, u32::MAX);
        let index = self.child(parent, key);
        self.limit = limit;
        index
    }

    /// Forgets all nodes.
    pub fn clear(&mut self) {
        self.count.store(1, Ordering::Relaxed);
        if let Some(children) = &mut self.children {
            children.clear();
        }
    }

    /// Mends the tree after a jump (`siglongjmp`) out of the midst of anything above.
    #[cold]
    pub fn recover(&mut self) {
        if !self.changing.load(Ordering::Relaxed) {
            return;
        }
        // The table may be half of what it was and half of what it was to be: its memory is left where it lies.
        core::mem::forget(self.children.take());
        let mut children = HashTable::new_in(Arena);
        let hash_of = |tree: &Tree, index| hash(tree.node(index).parent, tree.node(index).key);
        let room = children.try_reserve(self.len() as usize, |_| 0).is_ok();
        for index in (1..self.len()).filter(|_| room) {
            children.insert_unique(hash_of(self, index), index, |_| 0);
        }
        self.children = Some(children);
        self.changing.store(false, Ordering::Relaxed);
    }

    #[cold]
    fn add(&mut self, parent: u32, key: FrameKey, hash: u64, limit: u32) -> u32 {
        let index = self.count.load(Ordering::Relaxed);
        if TOTAL.load(Ordering::Relaxed) >= limit || index > INDEX {
            return NO_NODE;
        }
        let slot = &self.chunks[index as usize / CHUNK];
        if slot.load(Ordering::Relaxed).is_null() {
            let Some(chunk) = new_zeroed::<Chunk>() else { return NO_NODE };
            slot.store(chunk, Ordering::Release);
        }
        let chunks = &self.chunks;
        let Some(children) = self.children.as_mut() else { return NO_NODE };
        let rehash = |&index: &u32| {
            let chunk = chunks[index as usize / CHUNK].load(Ordering::Relaxed);
            // SAFETY: an index in the table has its chunk, and chunks are never freed.
            let node = unsafe { &(*chunk).0[index as usize % CHUNK] };
            self::hash(node.parent, node.key)
        };
        self.changing.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        if children.try_reserve(1, rehash).is_err() {
            self.changing.store(false, Ordering::Relaxed);
            return NO_NODE;
        }
        let chunk = slot.load(Ordering::Relaxed);
        // SAFETY: the slot of a new index is written by the owner alone, before the count makes it visible.
        unsafe {
            let node = &raw mut (*chunk).0[index as usize % CHUNK];
            node.write(Node { key, parent, record: AtomicU32::new(0), children: [0; REMEMBERED] });
        }
        self.count.store(index + 1, Ordering::Release);
        if let Some(children) = self.children.as_mut() {
            children.insert_unique(hash, index, |_| 0); // room was made above: nothing is rehashed
        }
        compiler_fence(Ordering::SeqCst);
        self.changing.store(false, Ordering::Relaxed);
        TOTAL.fetch_add(1, Ordering::Relaxed);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Location;

    fn tree(limit: u32) -> &'static mut Tree {
        let tree = new_zeroed::<Tree>().unwrap();
        assert!(tree.children.is_none());
        assert!(tree.start(limit));
        tree
    }

    fn key(address: usize) -> FrameKey {
        FrameKey::code(16, Location::returning_to(address))
    }

    #[test]
    fn equal_chains_are_one_context() {
        let tree = tree(u32::MAX);
        let top = tree.child(NO_NODE, FrameKey::thread(0));
        let main = tree.child(top, key(100));
        assert_eq!(tree.child(top, key(100)), main);
        let other = tree.child(main, key(100));
        assert_ne!(other, main);
        assert_eq!(tree.node(other).parent, main);
        assert_eq!(tree.len(), 4);
    }

    #[test]
    fn a_hundred_thousand_contexts_keep_their_indices() {
        let tree = tree(u32::MAX);
        let top = tree.child(NO_NODE, FrameKey::thread(0));
        let nodes: alloc::vec::Vec<u32> = (0..100_000).map(|n| tree.child(top, key(n))).collect();
        for (n, &node) in nodes.iter().enumerate() {
            assert_eq!(tree.child(top, key(n)), node);
        }
    }

    #[test]
    fn a_table_left_half_changed_is_made_anew() {
        let tree = tree(u32::MAX);
        let top = tree.child(NO_NODE, FrameKey::thread(0));
        let nodes: alloc::vec::Vec<u32> = (0..3000).map(|n| tree.child(top, key(n))).collect();
        tree.changing.store(true, Ordering::Relaxed);
        tree.recover();
        assert!(!tree.changing.load(Ordering::Relaxed));
        for (n, &node) in nodes.iter().enumerate() {
            assert_eq!(tree.child(top, key(n)), node);
        }
        assert_eq!(tree.len(), 3002);
    }

    #[test]
    fn the_limit_refuses_new_contexts_but_not_known_ones() {
        let tree = tree(0);
        assert_eq!(tree.child(NO_NODE, FrameKey::thread(0)), NO_NODE);
        let top = tree.child_beyond_limit(NO_NODE, FrameKey::thread(0));
        assert_ne!(top, NO_NODE);
        assert_eq!(tree.child(NO_NODE, FrameKey::thread(0)), top);
    }
}

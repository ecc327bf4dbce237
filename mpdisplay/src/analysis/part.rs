//! Profiles, and parts of them: what a report is about.

use mprof_format::model::{Frame, Profile};
use std::collections::BTreeSet;

/// A profile, or what some of its threads have of it.
#[derive(Debug, Clone)]
pub struct Part<'p> {
    /// The profile.
    pub profile: &'p Profile,
    /// Which threads.
    pub threads: Threads,
}

/// A choice of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threads {
    /// All, and what no thread is known of.
    All,
    /// These, by thread id in the profile; `None` stands for what no thread is known of.
    Only(Vec<Option<u32>>),
}

impl<'p> Part<'p> {
    /// The whole of a profile.
    pub fn whole(profile: &'p Profile) -> Self {
        Part { profile, threads: Threads::All }
    }

    /// Whether all threads belong to the part.
    pub fn is_whole(&self) -> bool {
        self.threads == Threads::All
    }

    /// Whether the chains belong to the part that begin with `top`, the frame of a context without parent.
    pub fn has_top(&self, top: Frame) -> bool {
        match &self.threads {
            Threads::All => true,
            Threads::Only(threads) => threads.contains(&thread_of(top)),
        }
    }

    /// The threads of the part that allocated, by id in the profile; `None`, which stands for what no thread is known
    /// of, comes first.
    pub fn allocating_threads(&self) -> Vec<Option<u32>> {
        let mut threads: Vec<Option<u32>> = Vec::with_capacity(self.profile.contexts.len());
        for context in &self.profile.contexts {
            threads.push(match context.parent {
                Some(parent) => threads[parent as usize],
                None => thread_of(context.frame),
            });
        }
        let counters = self.profile.counters.iter();
        let mut found: BTreeSet<Option<u32>> =
            counters.map(|counter| threads[counter.context as usize]).collect();
        if let Threads::Only(chosen) = &self.threads {
            found.retain(|thread| chosen.contains(thread));
        }
        found.into_iter().collect()
    }
}

/// The thread that the frame of a context without parent stands for.
fn thread_of(top: Frame) -> Option<u32> {
    match top {
        Frame::Thread(thread) => Some(thread),
        _ => None,
    }
}

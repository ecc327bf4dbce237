//! All units of a file: which user types they declare, and whether the file can be trusted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gimli::UnitHeader;

use crate::dwarf::{Dwarf, Slice, Unit};
use crate::progress::Progress;
use crate::skim::{self, Declared, Pending, Place, Sizes, Source, UnitTypes};
use crate::vet::{self, Budget, Damage};

/// A named user type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UserType {
    /// Bytes.
    pub(crate) size: u64,
    /// Qualified name.
    pub(crate) name: Vec<u8>,
    /// Declared in a system header.
    pub(crate) system: bool,
}

/// Unit bytes for which a thread of its own pays.
const BYTES_PER_THREAD: usize = 4 << 20;
/// Longest chain of typedefs over several units that is followed.
const MAX_CHAIN: usize = 32;

/// Reads all units of `dwarf` and of its supplementary file: the user types of the wanted sizes.
///
/// # Errors
/// Damage for which this debug information must not be used.
pub(crate) fn survey(
    dwarf: &Dwarf<'_>,
    wanted: &Sizes,
    progress: &Progress,
) -> Result<BTreeSet<UserType>, Damage> {
    let own = Source { dwarf, skeleton: None, supplementary: false };
    let own = survey_file(own, wanted, progress)?;
    let supplementary = match dwarf.sup() {
        Some(dwarf) => survey_file(Source { dwarf, skeleton: None, supplementary: true }, wanted, progress)?,
        None => Vec::new(),
    };
    let imported = imported(&own, &supplementary);
    let units: Vec<UnitTypes> = own.into_iter().chain(imported).map(|(_, types)| types).collect();
    Ok(put_together(units))
}

/// The same for a split part; `skeleton` is the unit that it was split from.
///
/// # Errors
/// As [`survey`].
pub(crate) fn survey_split<'a>(
    dwarf: &Dwarf<'a>,
    skeleton: Option<(&Dwarf<'a>, &Unit<'a>)>,
    wanted: &Sizes,
    progress: &Progress,
) -> Result<BTreeSet<UserType>, Damage> {
    let units = survey_file(Source { dwarf, skeleton, supplementary: false }, wanted, progress)?;
    Ok(put_together(units.into_iter().map(|(_, types)| types).collect()))
}

/// The units of one file with their places, in the file's order.
fn survey_file(
    source: Source<'_, '_>,
    wanted: &Sizes,
    progress: &Progress,
) -> Result<Vec<(Place, UnitTypes)>, Damage> {
    let Source { dwarf, supplementary, .. } = source;
    let headers = vet::unit_headers(dwarf);
    let budget = Budget::new(dwarf);
    let bytes: usize = headers.iter().map(|header| header.length_including_self()).sum();
    progress.expect(bytes as u64);
    let threads = (bytes / BYTES_PER_THREAD + 1).min(crate::threads());
    let next = AtomicUsize::new(0);
    // The damage of the first damaged unit: units are taken in order, so which one that is depends on no race.
    let damage: Mutex<Option<(usize, Damage)>> = Mutex::new(None);
    let results = Mutex::new(Vec::with_capacity(headers.len()));
    let work = || {
        let mut mine = Vec::new();
        while lock(&damage).is_none() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(header) = headers.get(index) else {
                break;
            };
            match skim::skim(source, *header, wanted, &budget) {
                Ok(types) => mine.push((place(header, supplementary), types)),
                Err(found) => {
                    let mut damage = lock(&damage);
                    *damage =
                        damage.take().into_iter().chain([(index, found)]).min_by_key(|(index, _)| *index);
                }
            }
            progress.done(header.length_including_self() as u64);
        }
        lock(&results).append(&mut mine);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where no thread can be had, this one does the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    if let Some((_, damage)) = lock(&damage).take() {
        return Err(damage);
    }
    let mut units = std::mem::take(&mut *lock(&results));
    units.sort_by_key(|(place, _)| *place);
    Ok(units)
}

/// Locks; a thread that panicked has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Place of a unit's first byte.
fn place(header: &UnitHeader<Slice<'_>>, supplementary: bool) -> Place {
    match (header.debug_info_offset(), header.debug_types_offset()) {
        (Some(offset), _) if supplementary => Place::Supplementary(offset.0),
        (Some(offset), _) => Place::Info(offset.0),
        (None, offset) => Place::Types(offset.map_or(0, |offset| offset.0)),
    }
}

/// The units of the supplementary file that the program's units import, directly or through others: the file
/// serves all programs of its package, and the rest of it is about those.
fn imported(own: &[(Place, UnitTypes)], supplementary: &[(Place, UnitTypes)]) -> Vec<(Place, UnitTypes)> {
    let unit_of = |place: Place| supplementary.partition_point(|(start, _)| *start <= place).checked_sub(1);
    let mut reached = HashSet::new();
    let mut open: Vec<Place> = own.iter().flat_map(|(_, types)| &types.imports).copied().collect();
    while let Some(place) = open.pop() {
        if !matches!(place, Place::Supplementary(_)) {
            continue;
        }
        if let Some(unit) = unit_of(place).filter(|&unit| reached.insert(unit)) {
            open.extend(&supplementary[unit].1.imports);
        }
    }
    let mut reached: Vec<usize> = reached.into_iter().collect();
    reached.sort_unstable();
    reached.into_iter().map(|unit| supplementary[unit].clone()).collect()
}

/// Follows the typedefs that lead from one unit to another, and drops what has no name.
fn put_together(units: Vec<UnitTypes>) -> BTreeSet<UserType> {
    let signatures: HashMap<u64, Place> = units.iter().filter_map(|unit| unit.signature).collect();
    let mut pending: Vec<&Pending> = units.iter().flat_map(|unit| &unit.pending).collect();
    let declared = units.iter().flat_map(|unit| &unit.declared);
    let mut known: HashMap<Place, (u64, bool)> = HashMap::new();
    if !pending.is_empty() {
        known.extend(declared.clone().map(|of: &Declared| (of.place, (of.size, of.nameless))));
    }
    let mut types = Types::default();
    declared.for_each(|of| types.add(of.size, of.name.as_deref(), of.system));
    for _ in 0..MAX_CHAIN {
        let before = pending.len();
        pending.retain(|alias| {
            let target = match alias.target {
                Place::Signature(signature) => signatures.get(&signature),
                ref place => Some(place),
            };
            let Some(&(size, nameless)) = target.and_then(|target| known.get(target)) else {
                return true;
            };
            let name = alias.name.as_deref().filter(|_| nameless || !alias.member);
            types.add(size, name, alias.system);
            known.insert(alias.place, (size, nameless && name.is_none()));
            false
        });
        if pending.len() == before {
            break;
        }
    }
    types.finish()
}

/// Types by size and name; one that anything but a system header declares is the program's.
#[derive(Default)]
struct Types(HashMap<(u64, Vec<u8>), bool>);

impl Types {
    fn add(&mut self, size: u64, name: Option<&[u8]>, system: bool) {
        if let Some(name) = name {
            self.0.entry((size, name.to_vec())).and_modify(|all| *all &= system).or_insert(system);
        }
    }

    fn finish(self) -> BTreeSet<UserType> {
        self.0.into_iter().map(|((size, name), system)| UserType { size, name, system }).collect()
    }
}

//! All units of a file: which user types they declare, and whether the file can be trusted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gimli::UnitHeader;

use crate::dwarf::{Dwarf, Slice};
use crate::progress::Progress;
use crate::skim::{self, Declared, Pending, Place, Sizes, UnitTypes};
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
    let own = survey_file(dwarf, false, wanted, progress)?;
    let supplementary = match dwarf.sup() {
        Some(dwarf) => survey_file(dwarf, true, wanted, progress)?,
        None => Vec::new(),
    };
    let imported = imported(&own, &supplementary);
    let units: Vec<UnitTypes> = own.into_iter().chain(imported).map(|(_, types)| types).collect();
    Ok(put_together(units))
}

/// The units of one file with their places, in the file's order.
fn survey_file(
    dwarf: &Dwarf<'_>,
    supplementary: bool,
    wanted: &Sizes,
    progress: &Progress,
) -> Result<Vec<(Place, UnitTypes)>, Damage> {
    let headers = vet::unit_headers(dwarf);
    let budget = Budget::new(dwarf);
    let bytes: usize = headers.iter().map(|header| header.length_including_self()).sum();
    progress.expect(bytes as u64);
    let threads = (bytes / BYTES_PER_THREAD + 1).min(crate::threads());
    let next = AtomicUsize::new(0);
    let damaged = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(headers.len()));
    let work = || -> Result<(), Damage> {
        let mut mine = Vec::new();
        while let Some(header) = headers.get(next.fetch_add(1, Ordering::Relaxed)) {
            if damaged.load(Ordering::Relaxed) {
                break;
            }
            let types = skim::skim(dwarf, header.clone(), supplementary, wanted, &budget);
            let types = types.inspect_err(|_| damaged.store(true, Ordering::Relaxed))?;
            mine.push((place(header, supplementary), types));
            progress.done(header.length_including_self() as u64);
        }
        results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).append(&mut mine);
        Ok(())
    };
    if threads == 1 {
        work()?;
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let outcomes = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
            outcomes.fold(Ok(()), |all, one| all.and(one))
        })?;
    }
    let mut units = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    units.sort_by_key(|(place, _)| *place);
    Ok(units)
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
        known.extend(declared.clone().map(|of: &Declared| (of.place, (of.size, of.name.is_some()))));
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
            let Some(&(size, has_name)) = target.and_then(|target| known.get(target)) else {
                return true;
            };
            let name = alias.name.as_deref().filter(|_| !(alias.member && has_name));
            types.add(size, name, alias.system);
            known.insert(alias.place, (size, name.is_some()));
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

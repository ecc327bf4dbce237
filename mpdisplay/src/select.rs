//! The halves, processes and threads that were asked for.

use crate::analysis::half::Half;
use crate::analysis::part::{Part, Threads};
use crate::error::Error;
use mprof_format::model::Profile;
use std::collections::BTreeSet;

/// The halves to be shown of the profiles: those that were asked for, or all that there are. At least one.
///
/// # Errors
/// When one that was asked for is not there.
pub(crate) fn halves<'p>(
    profiles: impl IntoIterator<Item = &'p Profile>,
    asked: &[Half],
) -> Result<Vec<Half>, Error> {
    let there = Half::all_in(profiles);
    if let Some(missing) = asked.iter().find(|half| !there.contains(half)) {
        return Err(Error::NoHalf {
            missing: missing.name(),
            there: there.iter().map(|half| half.name()).collect(),
        });
    }
    Ok(if asked.is_empty() {
        there
    } else {
        Half::ALL.into_iter().filter(|half| asked.contains(half)).collect()
    })
}

/// The profiles of the processes `pids`, and of these the threads `tids`; all, where none is named.
///
/// # Errors
/// When one of them is not there.
pub(crate) fn parts<'p>(profiles: &'p [Profile], pids: &[u32], tids: &[u32]) -> Result<Vec<Part<'p>>, Error> {
    let there: BTreeSet<u32> = profiles.iter().map(|profile| profile.process.pid).collect();
    if let Some(&missing) = pids.iter().find(|pid| !there.contains(pid)) {
        return Err(Error::NoProcess { pid: missing, there: there.into_iter().collect() });
    }
    let wanted = |profile: &&Profile| pids.is_empty() || pids.contains(&profile.process.pid);
    let profiles = profiles.iter().filter(wanted);
    if tids.is_empty() {
        return Ok(profiles.map(Part::whole).collect());
    }
    let mut there = BTreeSet::new();
    let mut parts = Vec::new();
    for profile in profiles {
        there.extend(profile.threads.iter().map(|thread| thread.tid));
        let threads = (0u32..).zip(&profile.threads).filter(|(_, thread)| tids.contains(&thread.tid));
        let threads: Vec<Option<u32>> = threads.map(|(id, _)| Some(id)).collect();
        if !threads.is_empty() {
            parts.push(Part { profile, threads: Threads::Only(threads) });
        }
    }
    match tids.iter().find(|tid| !there.contains(tid)) {
        Some(&tid) => Err(Error::NoThread { tid, there: there.into_iter().collect() }),
        None => Ok(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::{Process, Thread};

    fn profile(pid: u32, tids: &[u32]) -> Profile {
        let thread = |&tid| Thread { tid, count: 1, ..Thread::default() };
        let process = Process { pid, ..Process::default() };
        Profile { process, threads: tids.iter().map(thread).collect(), ..Profile::default() }
    }

    fn selected(pids: &[u32], tids: &[u32]) -> Result<Vec<(u32, Threads)>, String> {
        let profiles = [profile(10, &[10, 11, 12]), profile(20, &[20]), profile(10, &[10])];
        let parts = parts(&profiles, pids, tids).map_err(|error| error.to_string())?;
        Ok(parts.into_iter().map(|part| (part.profile.process.pid, part.threads)).collect())
    }

    #[test]
    fn processes_and_threads_are_chosen_by_number() {
        let all = [(10, Threads::All), (20, Threads::All), (10, Threads::All)];
        assert_eq!(selected(&[], &[]), Ok(all.to_vec()));
        assert_eq!(selected(&[20], &[]), Ok(vec![(20, Threads::All)]));
        let threads = |ids: &[u32]| Threads::Only(ids.iter().map(|&id| Some(id)).collect());
        assert_eq!(selected(&[], &[12, 20]), Ok(vec![(10, threads(&[2])), (20, threads(&[0]))]));
        assert_eq!(selected(&[10], &[10]), Ok(vec![(10, threads(&[0])), (10, threads(&[0]))]));
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        assert_eq!(selected(&[10, 5], &[]), Err("no process 5 in these profiles; there are 10, 20".into()));
        let error = selected(&[20], &[10]).expect_err("thread 10 is in another process");
        assert!(error.starts_with("no thread 10 in these profiles; there is 20"), "{error}");
    }
}

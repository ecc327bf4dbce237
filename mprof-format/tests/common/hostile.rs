//! What must hold for any bytes; used by the fuzz target and by the test that replays its corpus.

use mprof_format::model::{Category, Frame, History, Names, Profile, Reachability};
use mprof_format::{read, write_profile};

/// Reads `bytes`. Where there is a profile, its indices are in range, and written and read again it is the same.
pub(crate) fn check(bytes: &[u8]) {
    let loaded = match read(bytes) {
        Ok(loaded) => loaded,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    if let Some(damage) = &loaded.damage {
        assert!(damage.offset <= bytes.len() as u64, "{damage}");
        assert!(loaded.profile.incomplete);
    }
    check_indices(&loaded.profile);
    let mut again = vec![];
    write_profile(&loaded.profile, &mut again).expect("what was read can be written");
    let reread = read(&again).expect("what was written can be read");
    assert_eq!(reread.damage, None);
    assert_eq!(reread.profile, loaded.profile);
}

fn check_indices(profile: &Profile) {
    let (modules, threads) = (profile.modules.len(), profile.threads.len());
    let in_range = |frame: Frame| match frame {
        Frame::Code { module, .. } => (module as usize) < modules,
        Frame::Thread(thread) => (thread as usize) < threads,
        _ => true,
    };
    let is_code = |frame: Frame| matches!(frame, Frame::Code { .. } | Frame::Anonymous { .. });
    for start in profile.threads.iter().filter_map(|thread| thread.start) {
        assert!(is_code(start) && in_range(start));
    }
    for (id, context) in profile.contexts.iter().enumerate() {
        assert!(context.parent.is_none_or(|parent| (parent as usize) < id));
        assert!(in_range(context.frame));
        assert!(context.parent.is_some() || !is_code(context.frame));
        assert!(context.parent.is_none() || !matches!(context.frame, Frame::Thread(_)));
    }
    let counters = &profile.counters;
    assert!(counters.iter().all(|counter| (counter.context as usize) < profile.contexts.len()));
    assert!(counters.is_sorted_by(|a, b| (a.context, a.category) < (b.context, b.category)));
    // The bin without a size is the last.
    let size = |size: Option<u64>| size.unwrap_or(u64::MAX);
    assert!(profile.bins.is_sorted_by(|a, b| size(a.size) < size(b.size)));
    check_history(&profile.history, profile.contexts.len());
    if let Some(Reachability { kept, .. }) = &profile.reachability {
        assert!(kept.iter().all(|kept| (kept.context as usize) < profile.contexts.len()));
        assert!(kept.is_sorted_by(|a, b| (a.context, a.category) < (b.context, b.category)));
    }
    if let Some(names) = &profile.names {
        check_names(names, modules);
        assert!(names.sites.keys().all(|&frame| is_code(frame) && in_range(frame)));
    }
}

fn check_history(history: &History, contexts: usize) {
    let check = |keys: &mut dyn Iterator<Item = (u32, Category)>| {
        let mut last = None;
        for key in keys {
            assert!((key.0 as usize) < contexts && last < Some(key));
            last = Some(key);
        }
    };
    if let Some(peak) = &history.peak {
        check(&mut peak.live.iter().map(|live| (live.context, live.category)));
    }
    for snapshot in &history.snapshots {
        check(&mut snapshot.changes.iter().map(|change| (change.context, change.category)));
    }
    check(&mut history.lifetimes.iter().map(|lifetime| (lifetime.context, lifetime.category)));
    check(&mut history.ages.iter().map(|ages| (ages.context, ages.category)));
    check(&mut history.growth.iter().map(|growth| (growth.context, growth.category)));
    let rise = |a: [u64; 3], b: [u64; 3]| a.iter().zip(b).all(|(a, b)| *a <= b);
    let clock = |point: &mprof_format::model::Point| [point.ns, point.bytes, point.objects];
    assert!(history.curve.is_sorted_by(|a, b| rise(clock(a), clock(b))));
    let size = |size: Option<u64>| size.unwrap_or(u64::MAX);
    assert!(history.rounding.is_sorted_by(|a, b| size(a.size) < size(b.size)));
}

fn check_names(names: &Names, modules: usize) {
    let is_file = |file: Option<u32>| file.is_none_or(|file| (file as usize) < names.files.len());
    for function in &names.functions {
        assert!(is_file(function.file));
        assert!(function.module.is_none_or(|module| (module as usize) < modules));
    }
    for site in names.sites.values() {
        assert!(!site.frames.is_empty());
        for frame in &site.frames {
            assert!((frame.function as usize) < names.functions.len());
            assert!(is_file(frame.file));
        }
    }
    assert!(names.types.iter().all(|user_type| (user_type.module as usize) < modules));
}

/// `bytes` as a file whose header is good and whose records, as far as their lengths make sense, have fitting
/// checksums, and which ends with an end record. An over-long length is taken modulo what is there.
pub(crate) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x8dmprof\r\n\x01\x00\x01\x08\0\0\0\0".to_vec();
    file.extend(crc32fast::hash(&file).to_le_bytes());
    let mut rest = bytes.get(20..).unwrap_or_default();
    let mut records = 0u8;
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let [t0, t1, f0, f1, lengths @ ..] = *head;
        let length = u32::from_le_bytes(lengths) as usize % (after.len() + 1);
        let (payload, after) = after.split_at(length);
        let start = file.len();
        file.extend([t0, t1, f0, f1]);
        file.extend((length as u32).to_le_bytes());
        file.extend(payload);
        file.extend(crc32fast::hash(&file[start..]).to_le_bytes());
        rest = after.get(4..).unwrap_or_default();
        records = records.wrapping_add(1);
    }
    let start = file.len();
    file.extend([0xff, 0xff, 1, 0, 1, 0, 0, 0, records & 0x7f]);
    file.extend(crc32fast::hash(&file[start..]).to_le_bytes());
    file
}

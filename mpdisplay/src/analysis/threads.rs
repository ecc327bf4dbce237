//! What threads are called.

use super::names::close_together;
use super::text::printable;
use mprof_format::model::{Profile, Thread};

/// A thread of a profile for people: `reader, tid 4712, began in read_all`; `None` stands for what no thread is
/// known of. A record that several threads share says how many.
pub fn describe(profile: &Profile, thread: Option<u32>) -> String {
    let Some(thread) = thread.and_then(|thread| profile.threads.get(thread as usize)) else {
        return "not known".into();
    };
    let mut text = match printable(&thread.name) {
        name if name.is_empty() => "without a name".into(),
        name => name,
    };
    if thread.count > 1 {
        text += &format!(" and {} more", thread.count - 1);
    }
    if thread.tid > 0 {
        text += &format!(", tid {}", thread.tid);
    }
    if let Some(start) = start(profile, thread) {
        text += &format!(", began in {start}");
    }
    text
}

/// The function that a thread began in, if its name is known.
fn start(profile: &Profile, thread: &Thread) -> Option<String> {
    let names = profile.names.as_ref()?;
    let outermost = names.sites.get(&thread.start?)?.frames.last()?;
    let function = names.functions.get(outermost.function as usize)?;
    Some(close_together(printable(&function.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::{Frame, Function, Names, Site, SourceFrame};
    use std::collections::BTreeMap;

    #[test]
    fn threads_are_called_by_name_number_and_start() {
        let start = Frame::Code { module: 0, address: 16, interrupted: true };
        let site = Site { frames: vec![SourceFrame::default()] };
        let names = Names {
            functions: vec![Function { name: b"read_all".to_vec(), ..Function::default() }],
            sites: BTreeMap::from([(start, site)]),
            ..Names::default()
        };
        let threads = vec![
            Thread { name: b"tool".to_vec(), tid: 10, count: 1, start: None },
            Thread { name: b"reader\n".to_vec(), tid: 11, count: 3, start: Some(start) },
            Thread { count: 1, ..Thread::default() },
        ];
        let profile = Profile { threads, names: Some(names), ..Profile::default() };
        assert_eq!(describe(&profile, Some(0)), "tool, tid 10");
        assert_eq!(describe(&profile, Some(1)), "reader\\n and 2 more, tid 11, began in read_all");
        assert_eq!(describe(&profile, Some(2)), "without a name");
        assert_eq!(describe(&profile, None), "not known");
    }
}

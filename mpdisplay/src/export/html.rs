use super::Source;
use std::io::{self, Write};
pub(super) fn write(_: &Source<'_>, _: &mut dyn Write) -> io::Result<Vec<String>> {
    todo!()
}

//! The reader: a file's bytes to a checked profile. Nothing in the file is believed: records carry checksums,
//! every index is checked, and memory grows with the bytes that are there, never by a number that claims something.

use crate::error::{Damage, ReadError};
use crate::input::Input;
use crate::layout::{
    CRC, FILE_FLAGS_TO_OVERLOOK, FILE_HEADER, FILE_INCOMPLETE, LITTLE_ENDIAN, MAGIC, OLDEST_VERSION,
    POINTER_WIDTH, RECORD_ESSENTIAL, RECORD_HEADER, Tag, VERSION,
};
use crate::model::{Profile, RawRecord};
use crate::tables::Tables;

/// A file's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The profile; where there is damage, what came before it.
    pub profile: Profile,
    /// The first damage, if any; `profile.incomplete` is then set. Reading stops there: after a damaged record
    /// not even lengths can be trusted.
    pub damage: Option<Damage>,
    /// Format version of the file.
    pub version: u16,
}

/// Reads a whole file.
///
/// # Errors
/// Where there is nothing to show: no mprof file, another machine's or a newer version's, one with an essential
/// record of unknown kind, or one that is damaged before the end of its first record.
pub fn read(bytes: &[u8]) -> Result<Loaded, ReadError> {
    let (version, flags) = file_header(bytes)?;
    let mut input = Input::new(bytes);
    input.part(FILE_HEADER as u64, "file header").map_err(ReadError::Header)?;
    let mut tables = Tables::default();
    let mut extra = Vec::new();
    let damage = match records(&mut input, &mut tables, &mut extra) {
        Ok(()) => None,
        Err(Stop::Damage(damage)) => Some(damage),
        Err(Stop::Feature { offset, what }) => return Err(ReadError::Feature { offset, what }),
    };
    let incomplete = damage.is_some() || flags & FILE_INCOMPLETE != 0;
    match tables.into_profile() {
        Some(profile) => Ok(Loaded { profile: Profile { extra, incomplete, ..profile }, damage, version }),
        None => {
            Err(ReadError::NoProcess(damage.unwrap_or_else(|| input.damage("a process record expected"))))
        }
    }
}

/// Checks the file header and returns the format version and the flags.
fn file_header(bytes: &[u8]) -> Result<(u16, u32), ReadError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(magic_error(bytes));
    }
    let Some(header) = bytes.first_chunk::<FILE_HEADER>() else {
        let problem = format!("{FILE_HEADER} bytes expected, {} there", bytes.len()).into();
        return Err(ReadError::Header(Damage { offset: bytes.len() as u64, problem }));
    };
    let [.., v0, v1, order, pointer, f0, f1, f2, f3, c0, c1, c2, c3] = *header;
    if crc32fast::hash(&header[..FILE_HEADER - CRC]) != u32::from_le_bytes([c0, c1, c2, c3]) {
        let problem = "the checksum does not fit what is before it".into();
        return Err(ReadError::Header(Damage { offset: (FILE_HEADER - CRC) as u64, problem }));
    }
    let version = u16::from_le_bytes([v0, v1]);
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(ReadError::Version { file: version });
    }
    if order != LITTLE_ENDIAN {
        return Err(ReadError::Machine {
            offset: 10,
            what: "written with another byte order than little-endian",
        });
    }
    if pointer != POINTER_WIDTH {
        return Err(ReadError::Machine {
            offset: 11,
            what: "written by a program whose pointers are not 8 bytes long",
        });
    }
    let flags = u32::from_le_bytes([f0, f1, f2, f3]);
    if flags & !FILE_FLAGS_TO_OVERLOOK != 0 {
        let what = format!("file flag {:#x}", flags & !FILE_FLAGS_TO_OVERLOOK);
        return Err(ReadError::Feature { offset: 12, what });
    }
    Ok((version, flags))
}

/// What the first bytes look like where they are not the magic.
fn magic_error(bytes: &[u8]) -> ReadError {
    let name = &MAGIC[1..6];
    let near = bytes.get(..12).unwrap_or(bytes);
    if bytes.is_empty() {
        ReadError::Empty
    } else if MAGIC.starts_with(bytes) {
        let problem = format!("{FILE_HEADER} bytes expected, {} there", bytes.len()).into();
        ReadError::Header(Damage { offset: bytes.len() as u64, problem })
    } else if near.windows(name.len()).any(|window| window == name) {
        ReadError::TextMode
    } else {
        ReadError::NotMprof
    }
}

/// Why no more records are read.
enum Stop {
    Damage(Damage),
    Feature { offset: u64, what: String },
}

impl From<Damage> for Stop {
    fn from(damage: Damage) -> Stop {
        Stop::Damage(damage)
    }
}

/// Reads all records, as far as they are good.
fn records(input: &mut Input<'_>, tables: &mut Tables, extra: &mut Vec<RawRecord>) -> Result<(), Stop> {
    let mut count = 0;
    loop {
        let start = input.clone();
        if input.is_empty() {
            return Err(start
                .damage("the file is cut off: another record or the end record expected")
                .into());
        }
        let (number, flags, mut payload) = checked_record(input)?;
        match Tag::from_number(number) {
            Some(Tag::End) => {
                let records = payload.number("number of records")?;
                if records != count || !payload.is_empty() {
                    return Err(start.damage(format!("{records} records expected, {count} there")).into());
                }
                if !input.is_empty() {
                    return Err(input.damage("the end of the file expected after the end record").into());
                }
                return Ok(());
            }
            Some(tag) => tables.record(tag, &mut payload)?,
            None if flags & RECORD_ESSENTIAL != 0 => {
                return Err(Stop::Feature { offset: start.offset(), what: format!("record kind {number}") });
            }
            None => extra.push(RawRecord { tag: number, flags, payload: payload.rest().to_vec() }),
        }
        count += 1;
    }
}

/// Takes one record and checks its checksum: tag, flags, payload. All that is wrong with it is told of its start,
/// for a wrong length is found behind it.
fn checked_record<'a>(input: &mut Input<'a>) -> Result<(u16, u16, Input<'a>), Damage> {
    let start = input.clone();
    let record = |damage: Damage| start.damage(damage.problem);
    let number = input.u16("record tag").map_err(record)?;
    let flags = input.u16("record flags").map_err(record)?;
    let length = input.u32("record length").map_err(record)?;
    let payload = input.part(length.into(), "record").map_err(record)?;
    let crc = input.u32("checksum").map_err(record)?;
    let covered = RECORD_HEADER as u64 + u64::from(length);
    let covered = start.clone().part(covered, "record")?;
    if crc32fast::hash(covered.rest()) != crc {
        return Err(start.damage("the record's checksum does not fit its contents"));
    }
    Ok((number, flags, payload))
}

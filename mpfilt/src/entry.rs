//! What an entry of the debug information says that matters to us.

use gimli::{AttributeValue, DwTag};

use crate::dwarf::Slice;
use crate::skim::Place;

/// An attribute's value.
pub(crate) type Value<'a> = AttributeValue<Slice<'a>>;

/// What an entry is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Unit,
    Structure,
    Alias,
    Namespace,
    Import,
    Code,
}

impl Role {
    pub(crate) fn of(tag: DwTag) -> Option<Role> {
        match tag {
            gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_interface_type => Some(Role::Structure),
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => Some(Role::Alias),
            gimli::DW_TAG_namespace => Some(Role::Namespace),
            gimli::DW_TAG_imported_unit => Some(Role::Import),
            gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => Some(Role::Code),
            gimli::DW_TAG_compile_unit
            | gimli::DW_TAG_partial_unit
            | gimli::DW_TAG_type_unit
            | gimli::DW_TAG_skeleton_unit => Some(Role::Unit),
            _ => None,
        }
    }
}

/// The attributes of one entry that matter.
#[derive(Default)]
pub(crate) struct Entry<'a> {
    pub(crate) offset: usize,
    pub(crate) depth: isize,
    /// It is a `typedef`.
    pub(crate) typedef: bool,
    pub(crate) name: Option<Value<'a>>,
    pub(crate) size: Option<u64>,
    pub(crate) declaration: bool,
    /// Offset of the declaration in the same unit.
    pub(crate) specification: Option<usize>,
    pub(crate) file: Option<u64>,
    pub(crate) signature: Option<Place>,
    pub(crate) target: Option<Value<'a>>,
    pub(crate) ranges: Option<Value<'a>>,
    pub(crate) language: Option<gimli::DwLang>,
}

impl<'a> Entry<'a> {
    #[inline]
    pub(crate) fn note(&mut self, name: gimli::DwAt, value: Value<'a>) {
        match name {
            gimli::DW_AT_name => self.name = Some(value),
            gimli::DW_AT_byte_size => self.size = value.udata_value(),
            gimli::DW_AT_declaration => self.declaration = value == AttributeValue::Flag(true),
            gimli::DW_AT_decl_file => {
                self.file = match value {
                    AttributeValue::FileIndex(file) => Some(file),
                    _ => value.udata_value(),
                }
            }
            gimli::DW_AT_type | gimli::DW_AT_import => self.target = Some(value),
            gimli::DW_AT_specification => {
                if let AttributeValue::UnitRef(offset) = value {
                    self.specification = Some(offset.0);
                }
            }
            gimli::DW_AT_signature => {
                if let AttributeValue::DebugTypesRef(signature) = value {
                    self.signature = Some(Place::Signature(signature.0));
                }
            }
            gimli::DW_AT_ranges => self.ranges = Some(value),
            gimli::DW_AT_language => {
                if let AttributeValue::Language(language) = value {
                    self.language = Some(language);
                }
            }
            _ => {}
        }
    }
}

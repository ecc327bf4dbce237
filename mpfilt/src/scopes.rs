//! What a C++ function without a linker name is called: its name with the namespaces, classes and functions around
//! it. gcc gives no linker name to the members of classes inside functions, so to no lambda either.

use gimli::{AttributeValue, DwTag, UnitOffset};

use crate::dwarf::{Dwarf, Unit};

/// Longest chain of references of a parameter's type that is followed.
const MAX_TYPE_CHAIN: usize = 8;

/// How older versions of gcc name the class of a lambda.
const LAMBDA: &[u8] = b"<lambda";
/// How many scopes before a lambda are looked at for others like it.
const MAX_SIBLINGS: usize = 4096;

/// The namespaces, classes and functions of a unit, by offset.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'a>(Vec<Scope<'a>>);

#[derive(Debug)]
struct Scope<'a> {
    /// Offset of its entry.
    start: usize,
    /// Offset of the first entry after those inside it.
    end: usize,
    /// Index of the scope around it.
    parent: Option<usize>,
    kind: Kind,
    /// `DW_AT_name` of a namespace or class.
    name: &'a [u8],
    /// For a lambda its call operator.
    call_operator: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Namespace,
    Class,
    Function,
}

/// The scopes around an entry as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Around {
    /// The function that all of it stands in, to be named by others.
    pub(crate) function: Option<UnitOffset>,
    /// Names of namespaces and classes, outermost first.
    pub(crate) names: Vec<Vec<u8>>,
    /// The innermost class is a lambda's, and the entry its call operator.
    pub(crate) call_operator: bool,
}

impl<'a> Scopes<'a> {
    /// Reads a unit; where it cannot be read, what comes before.
    pub(crate) fn of(dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> Self {
        let mut scopes = Scopes::default();
        let _ = scopes.read(dwarf, unit);
        scopes
    }

    fn read(&mut self, dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        let mut open: Vec<(isize, usize)> = Vec::new();
        while !entries.is_empty() {
            let (start, depth) = (entries.next_offset().0, entries.next_depth());
            while open.last().is_some_and(|&(outer, _)| outer >= depth) {
                if let Some((_, closed)) = open.pop() {
                    self.0[closed].end = start;
                }
            }
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let kind = Kind::of(abbreviation.tag()).filter(|_| abbreviation.has_children());
            let Some(kind) = kind else {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            };
            let parent = open.last().map(|&(_, scope)| scope);
            let mut name: &[u8] = &[];
            // Of functions only a nameless class's call operator is of interest.
            let class = parent
                .filter(|&class| self.0[class].name.is_empty() || self.0[class].name.starts_with(LAMBDA));
            if kind == Kind::Function && class.is_none() {
                entries.skip_attributes(abbreviation.attributes())?;
            } else {
                for specification in abbreviation.attributes() {
                    let attribute = entries.read_attribute(*specification)?;
                    if attribute.name() == gimli::DW_AT_name {
                        name = dwarf.attr_string(unit, attribute.value()).map_or(&[], |of| of.slice());
                    }
                }
            }
            if let Some(class) = class.filter(|_| kind == Kind::Function && name == b"operator()") {
                self.0[class].call_operator.get_or_insert(start);
            }
            open.push((depth, self.0.len()));
            self.0.push(Scope { start, end: usize::MAX, parent, kind, name, call_operator: None });
        }
        Ok(())
    }

    /// What stands around an entry; empty where nothing does.
    pub(crate) fn around(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>, entry: UnitOffset) -> Around {
        let mut around = Around { function: None, names: Vec::new(), call_operator: false };
        let mut next = self.innermost(entry.0);
        while let Some(index) = next {
            let scope = &self.0[index];
            match scope.kind {
                Kind::Function => {
                    around.function = Some(UnitOffset(scope.start));
                    break;
                }
                _ if scope.is_lambda() => {
                    around.call_operator |= around.names.is_empty() && scope.call_operator == Some(entry.0);
                    around.names.push(self.lambda_name(dwarf, unit, index).into_bytes());
                }
                Kind::Namespace if scope.name.is_empty() => {
                    around.names.push(b"(anonymous namespace)".into())
                }
                Kind::Class if scope.name.is_empty() => around.names.push(b"(anonymous class)".into()),
                _ => around.names.push(scope.name.to_vec()),
            }
            next = scope.parent;
        }
        around.names.reverse();
        around
    }

    /// The innermost scope around (not at) an offset.
    fn innermost(&self, offset: usize) -> Option<usize> {
        let mut next = self.0.partition_point(|scope| scope.start < offset).checked_sub(1);
        while let Some(index) = next {
            if self.0[index].end > offset {
                return Some(index);
            }
            next = self.0[index].parent;
        }
        None
    }

    /// As demanglers write it: `{lambda(int)#2}` is the second one with that parameter in its function.
    fn lambda_name(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>, index: usize) -> String {
        let own = self.parameters(dwarf, unit, index);
        let function = self.function_around(index);
        let before = self.0[..index].iter().enumerate().rev().take_while(|(_, scope)| {
            // No further back than the function that they share.
            function.is_none_or(|function| scope.start > self.0[function].start)
        });
        let same = before.take(MAX_SIBLINGS).filter(|&(other, scope)| {
            scope.is_lambda()
                && self.function_around(other) == function
                && self.parameters(dwarf, unit, other) == own
        });
        format!("{{lambda({own})#{}}}", same.count() + 1)
    }

    fn function_around(&self, index: usize) -> Option<usize> {
        let mut next = self.0[index].parent;
        while let Some(index) = next.filter(|&index| self.0[index].kind != Kind::Function) {
            next = self.0[index].parent;
        }
        next
    }

    /// Types of the parameters of a lambda's call operator.
    fn parameters(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>, index: usize) -> String {
        let operator = self.0[index].call_operator.map(UnitOffset);
        let types = operator.and_then(|operator| self.parameter_types(dwarf, unit, operator).ok());
        types.unwrap_or_default().join(", ")
    }

    fn parameter_types(
        &self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        function: UnitOffset,
    ) -> gimli::Result<Vec<String>> {
        let mut types = Vec::new();
        let mut entries = unit.entries_raw(Some(function))?;
        let Some(abbreviation) = entries.read_abbreviation()? else {
            return Ok(types);
        };
        entries.skip_attributes(abbreviation.attributes())?;
        while entries.next_depth() > 0 {
            let outermost = entries.next_depth() == 1;
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let parameter = outermost && abbreviation.tag() == gimli::DW_TAG_formal_parameter;
            let (mut artificial, mut of_type) = (false, None);
            for specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(*specification)?;
                match (attribute.name(), attribute.value()) {
                    (gimli::DW_AT_artificial, value) => artificial = value == AttributeValue::Flag(true),
                    (gimli::DW_AT_type, AttributeValue::UnitRef(offset)) => of_type = Some(offset),
                    _ => {}
                }
            }
            if parameter && !artificial {
                types.push(self.type_name(dwarf, unit, of_type, MAX_TYPE_CHAIN));
            }
        }
        Ok(types)
    }

    /// A type as demanglers write it; `...` where it is beyond us.
    fn type_name(
        &self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        offset: Option<UnitOffset>,
        chain_left: usize,
    ) -> String {
        let Some(offset) = offset else {
            return "void".into();
        };
        let Some(entry) = unit.entry(offset).ok().filter(|_| chain_left > 0) else {
            return "...".into();
        };
        let inner = match entry.attr_value(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(offset)) => Some(offset),
            _ => None,
        };
        let inner = || self.type_name(dwarf, unit, inner, chain_left - 1);
        match entry.tag() {
            gimli::DW_TAG_typedef => inner(),
            gimli::DW_TAG_pointer_type => inner() + "*",
            gimli::DW_TAG_reference_type => inner() + "&",
            gimli::DW_TAG_rvalue_reference_type => inner() + "&&",
            gimli::DW_TAG_const_type => inner() + " const",
            gimli::DW_TAG_volatile_type => inner() + " volatile",
            _ => {
                let name = entry.attr_value(gimli::DW_AT_name);
                let name = name.and_then(|name| dwarf.attr_string(unit, name).ok());
                let Some(name) = name.map(|name| String::from_utf8_lossy(name.slice()).into_owned()) else {
                    return "...".into();
                };
                let mut next = self.innermost(offset.0);
                let mut qualified = name;
                while let Some(scope) =
                    next.map(|index| &self.0[index]).filter(|of| of.kind != Kind::Function)
                {
                    qualified = format!("{}::{qualified}", String::from_utf8_lossy(scope.name));
                    next = scope.parent;
                }
                qualified
            }
        }
    }
}

impl Scope<'_> {
    fn is_lambda(&self) -> bool {
        let nameless = self.name.is_empty() || self.name.starts_with(LAMBDA);
        self.kind == Kind::Class && nameless && self.call_operator.is_some()
    }
}

impl Kind {
    fn of(tag: DwTag) -> Option<Kind> {
        match tag {
            gimli::DW_TAG_namespace => Some(Kind::Namespace),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                Some(Kind::Class)
            }
            gimli::DW_TAG_subprogram => Some(Kind::Function),
            _ => None,
        }
    }
}

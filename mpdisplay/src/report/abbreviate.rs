//! Long C++ names as people write them: without the template arguments that nobody writes.

use super::fold::operator_length;

/// Brackets within brackets up to which names are looked into; names may be damaged or hostile.
const MAX_DEPTH: usize = 50;

/// Template arguments that have a default, by their beginnings; left out where they are not the first.
const DEFAULTS: [&str; 7] = [
    "std::allocator<",
    "std::char_traits<",
    "std::default_delete<",
    "std::equal_to<",
    "std::hash<",
    "std::less<",
    "std::pmr::polymorphic_allocator<",
];

/// The name without inline namespaces of the standard library and default template arguments, and with the
/// library's own short names: `std::string` for `std::__cxx11::basic_string<char, …>`.
pub(super) fn abbreviate(name: &str) -> String {
    let name = name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::");
    Parser { rest: &name }.list(0).map_or_else(|| name.clone(), |(text, _)| text)
}

struct Parser<'n> {
    rest: &'n str,
}

impl Parser<'_> {
    /// Text up to a comma or closing bracket that belongs to an outer list, with the sign that ended it; `None` where
    /// the brackets do not match.
    fn list(&mut self, depth: usize) -> Option<(String, char)> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut text = String::new();
        let mut parentheses = 0u32;
        while let Some(character) = self.rest.chars().next() {
            let operator = operator_length(self.rest);
            if operator > 0 {
                text.push_str(self.take(operator));
                continue;
            }
            self.take(character.len_utf8());
            match character {
                '<' => {
                    let arguments = self.arguments(depth)?;
                    close(&mut text, &arguments);
                }
                '>' if text.ends_with('-') => text.push('>'),
                '>' if depth > 0 && parentheses == 0 => return Some((text, '>')),
                ',' if depth > 0 && parentheses == 0 => return Some((text, ',')),
                _ => {
                    match character {
                        '(' => parentheses += 1,
                        ')' => parentheses = parentheses.saturating_sub(1),
                        _ => {}
                    }
                    text.push(character);
                }
            }
        }
        (depth == 0).then_some((text, ' '))
    }

    /// Template arguments behind their opening bracket, without defaults.
    fn arguments(&mut self, depth: usize) -> Option<Vec<String>> {
        let mut arguments: Vec<String> = Vec::new();
        loop {
            let (text, end) = self.list(depth + 1)?;
            let text = text.trim().to_owned();
            let is_default = DEFAULTS.iter().any(|default| text.starts_with(default));
            if arguments.is_empty() || !is_default {
                arguments.push(text);
            }
            if end == '>' {
                return Some(arguments);
            }
        }
    }

    fn take(&mut self, length: usize) -> &str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}

/// Adds the arguments to a template's name, or makes it the library's short name for these arguments.
fn close(text: &mut String, arguments: &[String]) {
    const BASIC: &str = "std::basic_";
    let prefix = match arguments {
        [only] if only == "char" => Some(""),
        [only] if only == "wchar_t" => Some("w"),
        _ => None,
    };
    if let (Some(prefix), Some(at)) = (prefix, text.rfind(BASIC))
        && text[at + BASIC.len()..].chars().all(|character| character.is_alphanumeric() || character == '_')
    {
        let name = format!("std::{prefix}{}", &text[at + BASIC.len()..]);
        text.replace_range(at.., &name);
    } else {
        *text += &format!("<{}>", arguments.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_strings() {
        let string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>";
        assert_eq!(abbreviate(&format!("{string}::_M_mutate")), "std::string::_M_mutate");
        assert_eq!(
            abbreviate(&format!("std::vector<{string}, std::allocator<{string}>>::push_back")),
            "std::vector<std::string>::push_back"
        );
        assert_eq!(
            abbreviate(&format!(
                "std::map<{string}, int, std::less<{string}>, std::allocator<std::pair<{string} const, int>>>::at"
            )),
            "std::map<std::string, int>::at"
        );
        assert_eq!(
            abbreviate("std::basic_ostream<wchar_t, std::char_traits<wchar_t>>::put"),
            "std::wostream::put"
        );
    }

    #[test]
    fn arguments_that_say_something_stay() {
        for name in [
            "std::allocator<int>::allocate",
            "Table<int, 7>::operator<",
            "f<int>(std::pair<int, char>)::{lambda()#1}::operator()",
            "a::operator->",
            "operator<< <int>",
            "g<(Kind)1, void (*)(int, char)>",
            "<alloc::vec::Vec<T> as core::iter::Extend<&T>>::extend",
            "<fn() -> i32 as core::ops::function::FnOnce<()>>::call_once",
        ] {
            assert_eq!(abbreviate(name), name);
        }
    }

    #[test]
    fn what_is_no_name_stays() {
        assert_eq!(abbreviate("a<b"), "a<b");
        assert_eq!(abbreviate("a>b>"), "a>b>");
        let deep = "a<".repeat(100_000);
        assert_eq!(abbreviate(&deep), deep);
    }
}

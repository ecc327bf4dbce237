//! The suppressions that come with the tool.

use super::{Origin, Rule, read};

/// What the C library, the loader and common runtimes keep on purpose, each with its reason.
const TEXT: &str = include_str!("built_in.supp");

/// The rules of the list.
pub(super) fn rules() -> Vec<Rule> {
    // A test reads it: it holds no error.
    read::rules(TEXT.as_bytes(), &|_| Origin::BuiltIn).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_sound_and_has_a_name_of_its_own() {
        let rules = read::rules(TEXT.as_bytes(), &|_| Origin::BuiltIn).expect("sound");
        let mut names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(count, TEXT.lines().filter(|line| *line == "{").count());
    }

    /// Above it, or above the rules before it that it follows without a break.
    #[test]
    fn every_rule_has_a_reason() {
        let mut above = "";
        for line in TEXT.lines() {
            if line == "{" {
                assert!(above.starts_with("# ") || above == "}", "a rule without a comment above it");
            }
            above = line;
        }
    }
}

//! Shell globs (glob(7)) over names of functions, files and modules.
//!
//! `*` stands for any characters, `?` for one, `[a-z]` for one of these, `[!a-z]` for one of no these; `\` takes the
//! meaning from what follows. Names hold all of these signs themselves (`operator[]`, `[unknown]`, `int*`), so a
//! pattern also matches the name that is equal to it, letter by letter. And `…` is a `*`, so that a name that was
//! folded on a screen can be given as it stands there.

/// A pattern over whole names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// A character of one of the ranges, or of none of them.
    Class { ranges: Vec<(char, char)>, negated: bool },
    /// Any characters.
    Star,
}

impl Glob {
    /// Reads a pattern. Every text is one: a bracket that is not closed means itself.
    pub fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(&character) = characters.get(at) {
            at += 1;
            tokens.push(match character {
                '*' | '…' => Token::Star,
                '?' => Token::Any,
                '\\' if at < characters.len() => {
                    at += 1;
                    Token::One(characters[at - 1])
                }
                '[' => match class(&characters[at..]) {
                    Some((token, length)) => {
                        at += length;
                        token
                    }
                    None => Token::One('['),
                },
                character => Token::One(character),
            });
        }
        // Stars side by side are one, so that matching goes back once a star.
        tokens.dedup_by(|a, b| *a == Token::Star && *b == Token::Star);
        Glob { text: text.to_owned(), tokens }
    }

    /// The pattern as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches the whole of `name`. Takes time in proportion to the product of both lengths at most.
    pub fn matches(&self, name: &str) -> bool {
        if name == self.text {
            return true;
        }
        let mut rest = name.chars();
        let mut at = 0;
        // Behind the last star: the token, and the text that it was tried with.
        let mut star = None;
        loop {
            let mut ahead = rest.clone();
            let next = ahead.next();
            match (self.tokens.get(at), next) {
                (Some(Token::Star), _) => {
                    at += 1;
                    star = Some((at, rest.clone()));
                }
                (None, None) => return true,
                (Some(token), Some(character)) if token.takes(character) => {
                    at += 1;
                    rest = ahead;
                }
                _ => {
                    // The star takes one character more, if there is one.
                    let Some((behind, tried)) = &mut star else { return false };
                    if tried.next().is_none() {
                        return false;
                    }
                    at = *behind;
                    rest = tried.clone();
                }
            }
        }
    }
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Token::One(wanted) => *wanted == character,
            Token::Any => true,
            Token::Class { ranges, negated } => {
                ranges.iter().any(|(first, last)| (first..=last).contains(&&character)) != *negated
            }
            Token::Star => false,
        }
    }
}

/// Reads a class behind its opening bracket; its length includes the closing one.
fn class(characters: &[char]) -> Option<(Token, usize)> {
    let negated = matches!(characters.first(), Some('!' | '^'));
    let begin = usize::from(negated);
    let mut ranges = Vec::new();
    let mut at = begin;
    loop {
        match characters.get(at..)? {
            // A bracket that comes first is a member.
            [']', ..] if at > begin => return Some((Token::Class { ranges, negated }, at + 1)),
            [first, '-', last, ..] if *last != ']' => {
                ranges.push((*first, *last));
                at += 3;
            }
            [character, ..] => {
                ranges.push((*character, *character));
                at += 1;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).matches(name)
    }

    #[test]
    fn stars_and_question_marks() {
        assert!(matches("make_*_widget", "make_red_widget"));
        assert!(matches("*", ""));
        assert!(matches("***", "abc"));
        assert!(matches("a*b*c", "a-b-b-c-c"));
        assert!(matches("?ake", "make") && !matches("?ake", "ake"));
        assert!(!matches("make", "make_widget"), "the whole name");
        assert!(!matches("a*b", "a-b-c"));
        assert!(matches("*ä?", "xäy"));
    }

    #[test]
    fn classes() {
        assert!(matches("f[0-9a]", "f7") && matches("f[0-9a]", "fa") && !matches("f[0-9a]", "fb"));
        assert!(matches("f[!0-9]", "fb") && !matches("f[^0-9]", "f7"));
        assert!(matches("f[]x]", "f]") && matches("f[a-]", "f-"));
    }

    #[test]
    fn names_with_signs_of_their_own() {
        assert!(matches("[unknown]", "[unknown]"));
        assert!(matches("Table<int*>::operator[]", "Table<int*>::operator[]"));
        assert!(matches("operator new[]", "operator new[]"));
        assert!(matches("operator new*", "operator new[]"));
        assert!(matches(r"operator\*", "operator*") && !matches(r"operator\*", "operator**"));
        assert!(matches("open[", "open["));
        assert!(matches("std::map<…>::insert(…)", "std::map<int, A>::insert(int)"), "as on a screen");
    }

    #[test]
    fn much_to_go_back_over_takes_no_long_time() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!matches(&pattern, &"a".repeat(5000)));
    }
}

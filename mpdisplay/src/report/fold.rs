//! Folding of long names, for terminals only.

use super::abbreviate::abbreviate;
use super::options::Page;
use crate::analysis::leaks::Path;

/// Columns by which the further lines of a path are set in.
pub(super) const INDENT: usize = 3;

/// What stands for a part that was left out.
const LEFT_OUT: char = '…';

/// The name as it is drawn behind `used` columns of a page.
pub(super) fn fold_name(name: &str, used: usize, page: &Page) -> String {
    if page.fold && !page.full_names { fold(name, page.room(used)) } else { name.to_owned() }
}

/// The name in at most `room` columns: first the template arguments give way that nobody writes, then what is between
/// its brackets (template arguments, then parameters), then its middle.
pub(crate) fn fold(name: &str, room: usize) -> String {
    if columns(name) <= room {
        return name.to_owned();
    }
    let short = abbreviate(name);
    if columns(&short) <= room {
        return short;
    }
    let folded = empty_brackets(&short, '<', '>');
    if columns(&folded) <= room {
        return folded;
    }
    let folded = empty_brackets(&folded, '(', ')');
    if columns(&folded) <= room {
        return folded;
    }
    cut_middle(&folded, room)
}

/// The path in lines of at most `room` columns, broken between callers; a caller that is longer is folded, unless
/// the page wants full names.
pub(super) fn fold_path(path: &Path, room: usize, page: &Page) -> Vec<String> {
    let mut lines = vec![path.beginning.text().to_owned()];
    for caller in &path.callers {
        let caller =
            if page.full_names { caller.clone() } else { fold(caller, room.saturating_sub(INDENT + 2)) };
        let part = format!("> {caller}");
        let indent = if lines.len() == 1 { 0 } else { INDENT };
        match lines.last_mut() {
            Some(last) if indent + columns(last) + 1 + columns(&part) <= room => {
                last.push(' ');
                last.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Replaces what is between outermost brackets by an ellipsis. The brackets in the names of operators
/// (`operator<`, `operator->`, `operator()`) are none.
fn empty_brackets(name: &str, open: char, close: char) -> String {
    let mut result = String::with_capacity(name.len());
    let mut depth = 0u32;
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let operator = operator_length(rest);
        let step = if operator > 0 { operator } else { character.len_utf8() };
        let (token, after) = rest.split_at(step);
        if operator == 0 && character == open {
            depth += 1;
            if depth == 1 {
                result.push(open);
                result.push(LEFT_OUT);
            }
        } else if operator == 0 && character == close && depth > 0 {
            depth -= 1;
            if depth == 0 {
                result.push(close);
            }
        } else if depth == 0 {
            result.push_str(token);
        }
        rest = after;
    }
    // Brackets that do not match are no brackets.
    if depth == 0 { result } else { name.to_owned() }
}

/// Length in bytes of an operator's name at the beginning of `text`, 0 if there is none.
pub(super) fn operator_length(text: &str) -> usize {
    const WORD: &str = "operator";
    let Some(symbols) = text.strip_prefix(WORD) else { return 0 };
    if symbols.starts_with("()") {
        return WORD.len() + 2;
    }
    let count = symbols.chars().take_while(|character| "<>=-".contains(*character)).count();
    // `operator<< <int>` has its arguments behind a space; `operator-><…` does not exist.
    if count > 0 { WORD.len() + count.min(3) } else { 0 }
}

fn cut_middle(text: &str, room: usize) -> String {
    let count = columns(text);
    let kept = room.saturating_sub(1);
    let head = kept / 3;
    let tail = kept - head;
    let mut result: String = text.chars().take(head).collect();
    result.push(LEFT_OUT);
    result.extend(text.chars().skip(count - tail.min(count)).skip_while(|&character| character == LEFT_OUT));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::leaks::Beginning;

    const PAGE: Page = Page { width: 80, fold: true, full_names: false };

    #[test]
    fn short_names_stay() {
        assert_eq!(fold("std::vector<int>::push_back(int)", 40), "std::vector<int>::push_back(int)");
    }

    #[test]
    fn template_arguments_give_way_first_then_parameters_then_the_middle() {
        let name = "std::map<std::string, std::vector<int>>::insert(std::pair<int, int> const&)";
        assert_eq!(fold(name, 60), "std::map<…>::insert(std::pair<…> const&)");
        assert_eq!(fold(name, 30), "std::map<…>::insert(…)");
        assert_eq!(fold(name, 16), "std::…:insert(…)");
    }

    #[test]
    fn operators_have_no_brackets() {
        assert_eq!(
            empty_brackets("Handle<int>::operator->() const", '<', '>'),
            "Handle<…>::operator->() const"
        );
        assert_eq!(empty_brackets("operator<(A<int>, B)", '<', '>'), "operator<(A<…>, B)");
        assert_eq!(empty_brackets("F::operator()(int)", '(', ')'), "F::operator()(…)");
        assert_eq!(empty_brackets("a<b", '<', '>'), "a<b");
    }

    #[test]
    fn paths_break_between_callers() {
        let callers = ["main", "make_red_widget", "make_widget"].map(String::from).to_vec();
        let path = Path { beginning: Beginning::Start, callers };
        assert_eq!(fold_path(&path, 26, &PAGE), ["|| > main", "> make_red_widget", "> make_widget"]);
        assert_eq!(fold_path(&path, 41, &PAGE), ["|| > main > make_red_widget > make_widget"]);
        assert_eq!(fold_path(&path, 16, &PAGE), ["|| > main", "> mak…_widget", "> make_widget"]);
    }
}

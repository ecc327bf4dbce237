//! Bold and colour, for terminals only: by meaning, and sparing.

use anstyle::{AnsiColor, Style as Ansi};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A table's heading, or what a part of the report is about.
    Heading,
    /// The function or cycle that an entry of the call graph is about.
    Subject,
    /// What guides the eye but says nothing: rules, what was left out.
    Faint,
    /// More is kept than before.
    Worse,
    /// Less is kept than before.
    Better,
}

impl Style {
    fn ansi(self) -> Ansi {
        match self {
            Style::Heading | Style::Subject => Ansi::new().bold(),
            Style::Faint => Ansi::new().dimmed(),
            Style::Worse => AnsiColor::Red.on_default(),
            Style::Better => AnsiColor::Green.on_default(),
        }
    }
}

/// Whether styles are shown. By default they are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Styles {
    /// They are.
    pub on: bool,
}

impl Styles {
    /// The text in its style, or as it is. Spaces at its end stay outside.
    pub fn paint(self, style: Style, text: &str) -> String {
        let visible = text.trim_end();
        if !self.on || visible.is_empty() {
            return text.to_owned();
        }
        let ansi = style.ansi();
        format!("{}{visible}{}{}", ansi.render(), ansi.render_reset(), &text[visible.len()..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_painted_only_where_styles_are_on() {
        assert_eq!(Styles::default().paint(Style::Heading, "Memory leaks"), "Memory leaks");
        let on = Styles { on: true };
        assert_eq!(on.paint(Style::Heading, "Memory leaks  "), "\x1b[1mMemory leaks\x1b[0m  ");
        assert_eq!(on.paint(Style::Worse, "new"), "\x1b[31mnew\x1b[0m");
        assert_eq!(on.paint(Style::Faint, "  "), "  ");
    }
}

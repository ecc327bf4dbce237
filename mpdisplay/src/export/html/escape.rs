//! Text that a page takes for text.

use std::fmt;

/// A text within an element or a quoted attribute.
pub(super) fn text(text: &str) -> Text<'_> {
    Text(text)
}

/// See [`text`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let special = |character: char| matches!(character, '&' | '<' | '>' | '"' | '\'');
        let mut rest = self.0;
        while let Some(place) = rest.find(special) {
            f.write_str(&rest[..place])?;
            f.write_str(match rest.as_bytes()[place] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[place + 1..];
        }
        f.write_str(rest)
    }
}

/// A string of JSON that no parser of HTML takes for markup, so that it can stand in a script element.
pub(super) fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".into());
    quoted.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            text("a<b> & \"c\" 'd'</script>").to_string(),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;&lt;/script&gt;"
        );
        assert_eq!(text("größer").to_string(), "größer");
    }

    #[test]
    fn strings_cannot_end_their_script() {
        assert_eq!(json("</script><!--\"\\"), r#""\u003c/script\u003e\u003c!--\"\\""#);
    }
}

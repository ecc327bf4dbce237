//! The reader of packed counters (see `packed`).

use super::Tables;
use crate::error::Damage;
use crate::history::{Lifetime, Live};
use crate::input::Input;
use crate::kinds::{Category, Counter};
use crate::packed::{CELLS, Entries, Models, Packed};

impl Tables {
    pub(super) fn packed(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let payload = input.rest();
        // Taken, so that the other tables can grow meanwhile.
        let mut cells = std::mem::take(&mut self.packed);
        cells.resize(CELLS, [0; 4]);
        let mut entries = Entries::new(payload, Models::new(&mut cells));
        let mut left = payload.len();
        loop {
            // The decoder is up to four bytes ahead.
            let seen = payload.len() - entries.rest().len();
            let start = input.clone().skipped(seen.saturating_sub(4));
            let Some(entry) = entries.next().map_err(|problem| start.damage(problem))? else { break };
            // An entry costs memory, and may cost hardly any bits.
            left = left.checked_sub(1).ok_or_else(|| start.damage("no more entries than bytes expected"))?;
            self.add(&entry, &start)?;
        }
        // Zeros up to one byte an entry; with more entries than that it has ended before.
        if !entries.rest().is_empty() && (left > 0 || entries.rest().iter().any(|byte| *byte != 0)) {
            return Err(input
                .clone()
                .skipped(payload.len() - entries.rest().len())
                .damage("the end of the record expected"));
        }
        *input = input.clone().skipped(payload.len());
        self.packed = cells;
        Ok(())
    }

    fn add(&mut self, entry: &Packed, start: &Input<'_>) -> Result<(), Damage> {
        let context = start.check_id(entry.context.into(), self.profile.contexts.len(), "context")?;
        let category = Category::from_index(entry.category);
        if let Some(counts) = entry.counts {
            self.profile.counters.push(Counter {
                context,
                category,
                allocs: counts.allocs,
                bytes: counts.bytes,
                frees: counts.allocs.wrapping_sub(counts.kept),
                freed_bytes: counts.bytes.wrapping_sub(counts.kept_bytes),
            });
        }
        if let Some((objects, bytes)) = entry.live {
            let Some(peak) = &mut self.profile.history.peak else {
                return Err(start.damage("the peak expected before what was alive then"));
            };
            peak.live.push(Live { context, category, objects, bytes });
        }
        if let Some(lives) = &entry.lives {
            self.profile.history.lifetimes.push(Lifetime {
                context,
                category,
                classes: lives.classes,
                temporary: lives.temporary,
                ages: lives.ages,
                young_bytes: lives.young_bytes,
            });
        }
        Ok(())
    }
}

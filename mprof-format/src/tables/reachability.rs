//! The table of reachability.

use super::Tables;
use super::history::join;
use crate::error::Damage;
use crate::input::Input;
use crate::model::Reachability;
use crate::reachability::{Amount, CLASSES, Kept};

impl Tables {
    pub(super) fn reachability(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let start = input.clone();
        let unseen_threads = input.number_to("threads not looked at")?;
        match &self.profile.reachability {
            Some(before) if before.unseen_threads != unseen_threads => {
                return Err(start.damage("as many threads not looked at as told before expected"));
            }
            Some(_) => {}
            None => self.profile.reachability = Some(Reachability { unseen_threads, kept: Vec::new() }),
        }
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let start = input.clone();
            let mask = input.number("classes of kept objects")?;
            if mask >> CLASSES != 0 {
                return Err(start.damage("no more than four classes of kept objects expected"));
            }
            let mut classes = [Amount::default(); CLASSES];
            for (class, amount) in classes.iter_mut().enumerate() {
                if mask >> class & 1 == 1 {
                    let objects = input.number("objects of a class")?;
                    *amount = Amount { objects, bytes: input.number("bytes of a class")? };
                }
            }
            let reachability = self.profile.reachability.get_or_insert_default();
            reachability.kept.push(Kept { context, category, classes });
        }
        Ok(())
    }
}

/// Brings the list in order and sums what is told twice.
pub(super) fn merge(reachability: &mut Reachability) {
    join(
        &mut reachability.kept,
        |kept| (kept.context, kept.category),
        |sum, next| {
            for (sum, next) in sum.classes.iter_mut().zip(next.classes) {
                sum.objects = sum.objects.saturating_add(next.objects);
                sum.bytes = sum.bytes.saturating_add(next.bytes);
            }
        },
    );
}

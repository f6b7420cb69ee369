//! The steps as a graph: who waits for whom, in compact lists.

/// Lists of numbers, one after the other in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(lists: &[Vec<u32>]) -> Self {
        let mut made = Self { starts: vec![0], items: Vec::new() };
        for list in lists {
            made.items.extend_from_slice(list);
            made.starts.push(made.items.len() as u32);
        }
        made
    }

    fn get(&self, index: u32) -> &[u32] {
        let index = index as usize;
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// A graph without a circle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Graph {
    dependencies: Lists,
    dependants: Lists,
    /// All steps, each after those it depends on.
    order: Vec<u32>,
    /// Where each step stands in `order`.
    place: Vec<u32>,
    /// How long the longest way from a beginning is, in steps.
    wave: Vec<u32>,
}

impl Graph {
    /// Builds the graph, or returns the steps of a circle in the order of the arrows.
    pub(super) fn build(dependencies: &[Vec<u32>]) -> Result<Self, Vec<u32>> {
        let count = dependencies.len();
        let mut dependants = vec![Vec::new(); count];
        let mut left = vec![0_u32; count];
        for (step, before) in dependencies.iter().enumerate() {
            left[step] = before.len() as u32;
            for other in before {
                dependants[*other as usize].push(step as u32);
            }
        }
        let mut order: Vec<u32> =
            (0..count as u32).filter(|step| left[*step as usize] == 0).collect();
        let mut wave = vec![0_u32; count];
        let mut next = 0;
        while let Some(step) = order.get(next).copied() {
            next += 1;
            for after in &dependants[step as usize] {
                let after = *after as usize;
                wave[after] = wave[after].max(wave[step as usize] + 1);
                left[after] -= 1;
                if left[after] == 0 {
                    order.push(after as u32);
                }
            }
        }
        if order.len() < count {
            return Err(circle(dependencies, &left));
        }
        let mut place = vec![0; count];
        for (index, step) in order.iter().enumerate() {
            place[*step as usize] = index as u32;
        }
        let (dependencies, dependants) = (Lists::new(dependencies), Lists::new(&dependants));
        Ok(Self { dependencies, dependants, order, place, wave })
    }

    /// Returns how many steps there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns what a step depends on.
    pub(super) fn dependencies(&self, step: u32) -> &[u32] {
        self.dependencies.get(step)
    }

    /// Returns what depends on a step.
    pub(super) fn dependants(&self, step: u32) -> &[u32] {
        self.dependants.get(step)
    }

    /// Returns all steps, each after those it depends on.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns where a step stands in [`Graph::order`].
    pub(super) fn place(&self, step: u32) -> u32 {
        self.place[step as usize]
    }

    /// Returns the wave of a step: how many steps lie one after the other before it at most.
    pub(super) fn wave(&self, step: u32) -> u32 {
        self.wave[step as usize]
    }
}

/// Walks back from a step that never became free until one comes again: that is a circle.
fn circle(dependencies: &[Vec<u32>], left: &[u32]) -> Vec<u32> {
    let stuck = |step: &u32| left[*step as usize] > 0;
    let mut way = Vec::new();
    let mut seen = vec![usize::MAX; dependencies.len()];
    let mut next = (0..dependencies.len() as u32).find(stuck);
    while let Some(step) = next {
        let index = step as usize;
        if seen[index] != usize::MAX {
            let mut circle = way.split_off(seen[index]);
            circle.push(step);
            return circle;
        }
        seen[index] = way.len();
        way.push(step);
        next = dependencies[index].iter().copied().find(|other| stuck(other));
    }
    way
}

/// Answers whether one step comes before another, as long as it is not asked for too much.
pub(super) struct Ancestry<'a> {
    graph: &'a Graph,
    seen: Vec<u32>,
    asked: u32,
    /// How many steps may still be looked at.
    budget: usize,
}

/// So many steps are looked at in all.
const LOOKS_MAX: usize = 5_000_000;

impl<'a> Ancestry<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        Self { graph, seen: vec![0; graph.len()], asked: 0, budget: LOOKS_MAX }
    }

    /// Tells whether `step` depends on `other`, directly or not; none if that is too much to ask.
    pub(super) fn depends(&mut self, step: u32, other: u32) -> Option<bool> {
        if self.graph.dependencies(step).contains(&other) {
            return Some(true);
        }
        self.asked += 1;
        let goal = self.graph.place(other);
        let mut todo = vec![step];
        while let Some(next) = todo.pop() {
            for before in self.graph.dependencies(next) {
                if *before == other {
                    return Some(true);
                }
                self.budget = self.budget.checked_sub(1)?;
                let fresh = self.seen[*before as usize] != self.asked;
                if fresh && self.graph.place(*before) > goal {
                    self.seen[*before as usize] = self.asked;
                    todo.push(*before);
                }
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_graph()(size in 1_usize..20)(
            edges in prop::collection::vec((0..size as u32, 0..size as u32), 0..40), size in Just(size),
        ) -> Vec<Vec<u32>> {
            let mut lists = vec![Vec::new(); size];
            for (from, to) in edges {
                if !lists[from as usize].contains(&to) {
                    lists[from as usize].push(to);
                }
            }
            lists
        }
    }

    proptest! {
        #[test]
        fn there_is_an_order_or_a_circle(lists in any_graph()) {
            match Graph::build(&lists) {
                Ok(graph) => {
                    for (step, before) in lists.iter().enumerate() {
                        for other in before {
                            prop_assert!(graph.place(*other) < graph.place(step as u32));
                            prop_assert!(graph.wave(*other) < graph.wave(step as u32));
                            prop_assert!(graph.dependants(*other).contains(&(step as u32)));
                        }
                    }
                }
                Err(circle) => {
                    prop_assert!(circle.len() > 1);
                    prop_assert_eq!(circle.first(), circle.last());
                    for pair in circle.windows(2) {
                        prop_assert!(lists[pair[0] as usize].contains(&pair[1]));
                    }
                }
            }
        }

        #[test]
        fn ancestry_is_the_closure_of_the_arrows(lists in any_graph()) {
            let Ok(graph) = Graph::build(&lists) else { return Ok(()) };
            let count = lists.len();
            let mut reach = vec![vec![false; count]; count];
            for step in graph.order() {
                for other in graph.dependencies(*step) {
                    reach[*step as usize][*other as usize] = true;
                    let beyond = reach[*other as usize].clone();
                    for (mine, theirs) in reach[*step as usize].iter_mut().zip(beyond) {
                        *mine |= theirs;
                    }
                }
            }
            let mut ancestry = Ancestry::new(&graph);
            for (step, row) in reach.iter().enumerate() {
                for (other, expected) in row.iter().enumerate() {
                    prop_assert_eq!(ancestry.depends(step as u32, other as u32), Some(*expected));
                }
            }
        }
    }
}

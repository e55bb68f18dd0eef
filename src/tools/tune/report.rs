//! What a run has found so far, for people: a list of the values, and a drawing of their paths.

use super::spsa::{Row, Tuner};
use crate::tools::data::svg::{COLORS, rounded, step};
use std::fmt::{Arguments, Write};

/// The size of the drawing, and of the space around the curves, in pixels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 600.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 36.0;
/// The least distance of two names, in pixels.
const NAME_DISTANCE: f64 = 15.0;
/// How many parameters, those that have moved most, have a colour and a name. The others are grey.
const NAMED: usize = 12;

/// Returns the parameters by the size of their change, the largest first: `name = value  start  change`, the change in
/// final perturbations.
pub fn parameters(tuner: &Tuner) -> String {
    let changes = tuner.changes();
    let mut text = String::new();
    for index in by_change(&changes) {
        let (parameter, value) = (&tuner.plan.parameters[index], tuner.values[index]);
        let (name, start, change) = (&parameter.name, parameter.start, changes[index]);
        writeln!(text, "{name} = {value:.0}  {start}  {change:+.2}").expect("writing to a string never fails");
    }
    text
}

/// Returns the indices of the parameters by the size of their change, the largest first.
fn by_change(changes: &[f64]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..changes.len()).collect();
    indices.sort_by(|&a, &b| changes[b].abs().total_cmp(&changes[a].abs()));
    indices
}

/// Draws the path of each parameter as SVG, in final perturbations from the start.
pub fn paths(tuner: &Tuner) -> String {
    let earlier = tuner.history.iter().filter(|row| row.pairs < tuner.played);
    let mut rows: Vec<(f64, Vec<f64>)> = earlier.map(|row| point(tuner, row)).collect();
    rows.push((2.0 * tuner.played as f64, tuner.changes()));
    let (_, last) = rows.last().expect("there is the current row");
    let values = || rows.iter().flat_map(|(_, values)| values.iter().copied());
    let step_y = step(values().fold(0.0, f64::max) - values().fold(0.0, f64::min));
    let lowest = (values().fold(0.0, f64::min) / step_y).floor() as i32;
    let highest = ((values().fold(0.0, f64::max) / step_y).ceil() as i32).max(lowest + 1);
    let games = (2.0 * tuner.plan.pairs as f64).max(1.0);
    let (inner_width, inner_height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let place_x = |x: f64| LEFT + x / games * inner_width;
    let place_y = |y: f64| TOP + (f64::from(highest) - y / step_y) / f64::from(highest - lowest) * inner_height;

    let mut text = String::new();
    let mut add = |words: Arguments| writeln!(text, "{words}").expect("writing to a string never fails");
    add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    ));
    let title = "Change of each parameter in units of its final perturbation, by games";
    add(format_args!("<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{title}</text>"));
    for line in lowest..=highest {
        let value = f64::from(line) * step_y;
        let (y, color) = (place_y(value), if line == 0 { "#888" } else { "#ddd" });
        add(format_args!("<path d=\"M{LEFT} {y:.1}h{inner_width}\" stroke=\"{color}\"/>"));
        let (x, y) = (LEFT - 6.0, y + 4.0);
        add(format_args!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", rounded(value)));
    }
    let step_x = step(games);
    for line in 0..=(games / step_x) as u32 {
        let value = f64::from(line) * step_x;
        let (x, y) = (place_x(value), HEIGHT - BOTTOM + 18.0);
        add(format_args!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", rounded(value)));
    }
    let order = by_change(last);
    // The most moved ones come last, on top of the others.
    for (place, &index) in order.iter().enumerate().rev() {
        let (color, width) = if place < NAMED { (COLORS[place % COLORS.len()], 1.6) } else { ("#ccc", 0.8) };
        let points = rows.iter().map(|(x, values)| format!("{:.1},{:.1}", place_x(*x), place_y(values[index])));
        let points = points.collect::<Vec<_>>().join(" ");
        add(format_args!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>"));
    }
    let x = place_x(2.0 * tuner.played as f64);
    for (place, y) in name_places(&order, |index| place_y(last[index])) {
        let (index, color) = (order[place], COLORS[place % COLORS.len()]);
        let (name, value) = (&tuner.plan.parameters[index].name, last[index]);
        let (x, y) = (x + 6.0, y + 4.0);
        add(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{color}\">{name} {value:+.1}</text>"));
    }
    add(format_args!("</svg>"));
    text
}

/// Returns a row as games and changes in final perturbations.
fn point(tuner: &Tuner, row: &Row) -> (f64, Vec<f64>) {
    (2.0 * row.pairs as f64, tuner.in_steps(row.values.iter().map(|&value| value.into())))
}

/// Returns for each name that is shown its place in the order and its height, moved down where names would overlap.
fn name_places(order: &[usize], height: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
    let shown = order.iter().take(NAMED).enumerate();
    let mut places: Vec<(usize, f64)> = shown.map(|(place, &index)| (place, height(index))).collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    for i in 1..places.len() {
        places[i].1 = places[i].1.max(places[i - 1].1 + NAME_DISTANCE);
    }
    // Names that would lie below the drawing move up again.
    let mut limit = HEIGHT - BOTTOM;
    for (_, y) in places.iter_mut().rev() {
        *y = y.min(limit);
        limit = *y - NAME_DISTANCE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::spsa::tests::plan;
    use super::*;

    #[test]
    fn the_list_begins_with_the_largest_change() {
        let mut tuner = Tuner::new(plan(100, 0.002));
        tuner.values = vec![90.2, 3.7, 901.0];
        // The final perturbations are 20, 0.5 and 100.
        assert_eq!(parameters(&tuner), "b = 4  3  +1.40\na = 90  100  -0.49\nc = 901  900  +0.01\n");
    }

    #[test]
    fn each_parameter_has_a_curve_within_the_drawing() {
        let mut tuner = Tuner::new(plan(100, 0.1));
        let check = |text: &str| {
            let curves: Vec<&str> = text.split("<polyline points=\"").skip(1).collect();
            assert_eq!(curves.len(), 3);
            for point in curves.iter().flat_map(|curve| curve.split('"').next().unwrap().split(' ')) {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{point}");
            }
            assert!(text.ends_with("</svg>\n") && !text.contains("NaN") && !text.contains("inf"), "{text}");
        };
        check(&paths(&tuner));
        for _ in 0..100 {
            let pair = tuner.draw();
            tuner.apply(&pair, 2);
        }
        check(&paths(&tuner));
    }

    #[test]
    fn names_do_not_overlap() {
        let order: Vec<usize> = (0..30).collect();
        for heights in [[50.0; 30], [HEIGHT - BOTTOM; 30]] {
            let places = name_places(&order, |index| heights[index]);
            assert_eq!(places.len(), NAMED);
            assert!(places.windows(2).all(|pair| pair[1].1 - pair[0].1 >= NAME_DISTANCE - 1e-9), "{places:?}");
            assert!(places.iter().all(|(_, y)| (0.0..=HEIGHT - BOTTOM).contains(y)));
        }
    }
}

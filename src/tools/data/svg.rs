//! A drawing of curves as SVG.

use std::fmt::Write;

/// A curve, or one of several in a panel.
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A diagram.
pub struct Panel {
    /// What is drawn.
    pub title: &'static str,
    /// The curves; the same number in each panel.
    pub series: Vec<Series>,
}

/// Colours that readers with colour blindness can tell apart too (Okabe and Ito).
pub(in crate::tools) const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
/// The size of a panel and of the space around its diagram, in pixels.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 280.0;
const MARGIN: f64 = 42.0;
/// The height of a line of the legend.
const LINE: f64 = 18.0;
const COLUMNS: usize = 2;

/// Returns the panels in two columns, below a legend.
pub fn draw(panels: &[Panel]) -> String {
    let mut text = String::new();
    let mut add = |words: std::fmt::Arguments| writeln!(text, "{words}").expect("writing to a string never fails");
    let names = panels.first().map_or(&[][..], |panel| &panel.series[..]);
    let top = LINE * (names.len() as f64 + 1.0);
    let (width, height) = (COLUMNS as f64 * WIDTH, top + panels.len().div_ceil(COLUMNS) as f64 * HEIGHT);
    add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
    ));
    for (i, series) in names.iter().enumerate() {
        let (color, y) = (COLORS[i % COLORS.len()], LINE * (i as f64 + 1.0));
        let name = series.name.replace('&', "&amp;").replace('<', "&lt;");
        add(format_args!("<path d=\"M{MARGIN} {}h20\" stroke=\"{color}\" stroke-width=\"2\"/>", y - 4.0));
        add(format_args!("<text x=\"{}\" y=\"{y}\">{name}</text>", MARGIN + 26.0));
    }
    for (i, panel) in panels.iter().enumerate() {
        let (x, y) = ((i % COLUMNS) as f64 * WIDTH, top + (i / COLUMNS) as f64 * HEIGHT);
        add(format_args!("<g transform=\"translate({x} {y})\">\n{}</g>", diagram(panel)));
    }
    add(format_args!("</svg>"));
    text
}

/// Returns the elements of a panel whose upper left corner is at the origin.
fn diagram(panel: &Panel) -> String {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let (left, right) = points().fold((f64::MAX, f64::MIN), |(least, most), &(x, _)| (least.min(x), most.max(x)));
    // Without points or with one column of them, any range will do.
    let (left, right) = if left < right { (left, right) } else { (0.0, 1.0) };
    let step_y = step(points().fold(0.0, |most, &(_, y)| y.max(most)));
    let lines = (points().fold(0.0, |most: f64, &(_, y)| y.max(most)) / step_y).ceil().max(1.0);
    let (inner_width, inner_height) = (WIDTH - 2.0 * MARGIN, HEIGHT - 2.0 * MARGIN);
    let place_x = |x: f64| MARGIN + (x - left) / (right - left) * inner_width;
    let place_y = |y: f64| HEIGHT - MARGIN - y / (lines * step_y) * inner_height;
    let mut text = String::new();
    let mut add = |words: std::fmt::Arguments| writeln!(text, "{words}").expect("writing to a string never fails");
    add(format_args!("<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>", MARGIN - 12.0, panel.title));
    for line in 0..=lines as u32 {
        let value = f64::from(line) * step_y;
        let y = place_y(value);
        add(format_args!("<path d=\"M{MARGIN} {y:.1}h{inner_width}\" stroke=\"#ddd\"/>"));
        let (x, y) = (MARGIN - 4.0, y + 4.0);
        add(format_args!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", rounded(value)));
    }
    let step_x = step(right - left);
    let mut value = (left / step_x).ceil() * step_x;
    while value <= right {
        let (x, y) = (place_x(value), HEIGHT - MARGIN + 16.0);
        add(format_args!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", rounded(value)));
        value += step_x;
    }
    for (i, series) in panel.series.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let points = series.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", place_x(x), place_y(y)));
        let points = points.collect::<Vec<_>>().join(" ");
        add(format_args!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>"));
    }
    text
}

/// Returns the distance of 4 to 8 lines in a range: 1, 2 or 5 times a power of ten.
pub(in crate::tools) fn step(range: f64) -> f64 {
    let rough = (range / 8.0).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= rough).unwrap_or(power)
}

/// Returns a number as people write it: the sums of decimal fractions are not exact.
pub(in crate::tools) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (range, expected) in [(8.0, 1.0), (9.0, 2.0), (40.0, 5.0), (100.0, 20.0), (0.6, 0.1), (3000.0, 500.0)] {
            assert!((step(range) - expected).abs() < 1e-9, "{range}: {}", step(range));
        }
        assert_eq!(rounded(0.1 + 0.2).to_string(), "0.3");
    }

    #[test]
    fn curves_lie_within_their_panels() {
        let series = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.into() };
        let panel = |points| Panel { title: "T", series: vec![series("a<b&c", points), series("d", &[])] };
        let text = draw(&[panel(&[(-100.0, 0.0), (0.0, 3.3), (100.0, 8.0)]), panel(&[]), panel(&[(2.0, 5.0)])]);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(text.contains(">a&lt;b&amp;c<"), "{text}");
        let curves: Vec<_> = text.split("<polyline points=\"").skip(1).map(|rest| rest.split('"').next()).collect();
        // The upper edge is the line at 8.
        assert_eq!(curves.len(), 6);
        assert_eq!((curves[0], curves[1]), (Some("42.0,238.0 230.0,157.2 418.0,42.0"), Some("")));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}

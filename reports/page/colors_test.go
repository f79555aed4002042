package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Texts have a contrast of 4.5 to 1 to what is behind them, and marks one of 3 to 1 (WCAG 2.2, AA), in both themes. A
// page on paper has the light colours.
func TestContrast(t *testing.T) {
	light, dark := colorsOf(t, ":root {"), colorsOf(t, `:root[data-theme="dark"] {`)
	for name := range dark {
		if light[name] == "" {
			t.Errorf("there is no light --%s", name)
		}
	}
	for theme, colors := range map[string]map[string]string{"light": light, "dark": dark} {
		check := func(front, behind string, least float64) {
			t.Helper()
			if got := contrast(t, colors[front], colors[behind]); got < least {
				t.Errorf("%s: --%s on --%s has %.2f, want %.1f", theme, front, behind, got, least)
			}
		}
		for _, status := range []string{"passed", "failed", "error", "known", "notRun", "skipped", "hazard"} {
			check(status, status+"-b", 4.5)
			check(status, "ground", 4.5)
		}
		for _, mark := range []string{
			"passed", "failed", "error", "known", "notRun", "hazard", "move", "ready", "starting",
		} {
			check("c-"+mark, "ground", 3)
			check("c-"+mark, "raised", 3)
		}
		for _, status := range []string{"failed", "error", "known"} {
			check("ground", "c-"+status, 4.5) // the sign in a step
		}
		check("on-ready", "c-ready", 4.5)
		check("soft", "raised", 4.5)
		for _, band := range []string{"v0", "v1", "v2", "v3", "v4", "v5"} {
			check("text", band, 4.5)
		}
	}
	for _, want := range []string{
		`@media screen { :root[data-theme="dark"] {`, "@media screen and (prefers-color-scheme: dark) {",
	} {
		if !strings.Contains(styles, want) {
			t.Errorf("the dark colours are not only for screens: there is no %s", want)
		}
	}
}

// colorsOf returns the variables of a block of the styles.
func colorsOf(t *testing.T, block string) map[string]string {
	t.Helper()
	_, rest, found := strings.Cut(styles, block)
	text, _, _ := strings.Cut(rest, "}")
	colors := map[string]string{}
	for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(text, -1) {
		colors[m[1]] = m[2]
	}
	if !found || len(colors) < 30 {
		t.Fatalf("%s has the colours %v", block, colors)
	}
	return colors
}

// contrast is the contrast of two colours as WCAG defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		if len(color) != 7 {
			t.Fatalf("the colour %q", color)
		}
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		part := float64(n) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}

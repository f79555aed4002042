package terminal

import (
	"slices"
	"strconv"
	"strings"
)

// LinksWanted reports whether the terminal shows links (control sequence OSC 8). Other terminals would ignore the
// sequence, or print it. FORCE_HYPERLINK overrides the result: 1 or 0.
func LinksWanted(getenv func(string) string) bool {
	if forced := getenv("FORCE_HYPERLINK"); forced != "" {
		return forced != "0"
	}
	term := getenv("TERM")
	if term == "dumb" || term == "" {
		return false
	}
	for _, name := range []string{"WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"} {
		if getenv(name) != "" {
			return true
		}
	}
	if version, err := strconv.Atoi(getenv("VTE_VERSION")); err == nil {
		return version >= 5000
	}
	program := getenv("TERM_PROGRAM")
	if program == "tmux" {
		version, err := strconv.ParseFloat(strings.TrimRight(getenv("TERM_PROGRAM_VERSION"), "abcdefgh"), 64)
		return err == nil && version >= 3.4
	}
	return slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "Hyper", "ghostty", "rio"}, program) ||
		slices.ContainsFunc([]string{"kitty", "alacritty", "foot", "ghostty", "wezterm", "contour"},
			func(name string) bool { return strings.Contains(term, name) })
}

// linked returns a text with a link to an address, if there is one.
func linked(text, address string) string {
	if address == "" || text == "" {
		return text
	}
	return "\x1b]8;;" + address + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// ProgramVersion is this program's module version or, if it was built from a checkout, the commit.
func ProgramVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if commit, _ := commitOf(info); commit != "" && (version == "" || version == "(devel)") {
		version = commit
	}
	if version == "" {
		return "(devel)"
	}
	return version
}

// commitOf returns the commit that the program was built from ("" if unknown), and whether files were changed.
func commitOf(info *debug.BuildInfo) (commit string, modified bool) {
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			modified = setting.Value == "true"
		}
	}
	return commit, modified
}

// VersionText is the output of --version: the program, and the versions of Kubernetes that it can start at once.
func VersionText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rehearse %s\n", ProgramVersion())
	if info, ok := debug.ReadBuildInfo(); ok {
		if commit, modified := commitOf(info); commit != "" {
			fmt.Fprintf(&b, "commit: %s", commit)
			if modified {
				b.WriteString(", with changes")
			}
			b.WriteString("\n")
		}
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				fmt.Fprintf(&b, "Kubernetes libraries: %s\n", strings.Replace(module.Version, "v0.", "v1.", 1))
			}
		}
	}
	fmt.Fprintf(&b, "built with: %s for %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(&b, "Kubernetes versions: tested with %s; others run as soon as their programs are available\n", tested)
	fmt.Fprintf(&b, "Kubernetes versions in the cache: %s\n", cachedVersions())
	return b.String()
}

// tested are the minor versions of Kubernetes that Rehearse's own tests use: VERSIONS of the Makefile.
const tested = "1.33 to 1.37"

// cachedVersions lists the versions that start at once. Others are downloaded first.
func cachedVersions() string {
	store, err := CachedReleases(nil)
	if err != nil {
		return fmt.Sprintf("unknown (%v)", err)
	}
	var words []string
	for _, version := range store.CachedVersions() {
		words = append(words, version.String())
	}
	if len(words) == 0 {
		return "none yet; rehearse fetch 1.36 gets one"
	}
	return strings.Join(words, ", ")
}

package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
)

// devel is the version of a build that does not know its commit, such as that of a plain "go run".
const devel = "(devel)"

// ProgramVersion is this program's module version or, if it was built from a checkout, the commit.
func ProgramVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if commit, modified := commitOf(info); commit != "" && (version == "" || version == devel) {
		version = commit
		if modified {
			version += "+dirty"
		}
	}
	return cmp.Or(version, devel)
}

// Head is the beginning of what a command writes: the command line and this program. args are as for CommandLine.
func Head(command *cobra.Command, args ...string) reports.Head {
	return reports.Head{Command: CommandLine(command, args...), Program: ProgramVersion(), Build: programBuild()}
}

// SameProgram reports whether two results with the same version were surely written by the same program.
func SameProgram(a, b reports.Head) bool {
	return identifies(a.Program) || a.Build == b.Build && a.Build != ""
}

// identifies reports whether two programs with this version are the same. Builds without a commit, and those of files
// that were changed after the commit, all have the same version.
func identifies(version string) bool {
	return !slices.Contains([]string{"", devel, "unknown"}, version) && !strings.HasSuffix(version, "dirty")
}

// programBuild is a digest of this program if its version does not identify it, otherwise "". It is also "" if the
// program cannot be read.
func programBuild() string {
	if identifies(ProgramVersion()) {
		return ""
	}
	return digestOfProgram()
}

// digestOfProgram is computed once, because the program is large.
var digestOfProgram = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	program, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer program.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

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

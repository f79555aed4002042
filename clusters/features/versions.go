package features

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Versions are those that a component goes by, as minor versions.
type Versions struct {
	// Emulated is the version whose gates the component has: its own, or an older one (--emulated-version).
	Emulated clusters.Version
	// MinCompatibility is the oldest version that it stays compatible with (--min-compatibility-version). Some specs of
	// gates hold only when it is new enough.
	MinCompatibility clusters.Version
}

// VersionsOf are the versions of a component of a release, without flags that change them.
func VersionsOf(release clusters.Version) Versions {
	return Versions{Emulated: minorOf(release), MinCompatibility: before(minorOf(release), release)}
}

// VersionsIn are the versions of a component of a release that gets these flags. Which values a component takes is its
// own to say: an error is only for what is no version.
func VersionsIn(release clusters.Version, flags map[string]string) (Versions, error) {
	v := VersionsOf(release)
	if err := readVersion(flags, clusters.EmulatedVersionFlag, &v.Emulated); err != nil {
		return v, err
	}
	v.MinCompatibility = before(v.Emulated, release)
	return v, readVersion(flags, clusters.MinCompatibilityVersionFlag, &v.MinCompatibility)
}

// before is what a component of a release stays compatible with by default: the version before that which it emulates,
// where it can emulate that.
func before(emulated, release clusters.Version) clusters.Version {
	emulated.Minor = max(emulated.Minor-1, min(emulated.Minor, max(release.Minor-clusters.EmulatedMinors,
		clusters.OldestEmulatedMinor)))
	return emulated
}

// readVersion reads "1.36", or "kube=1.36" of a list for several components.
func readVersion(flags map[string]string, flag string, v *clusters.Version) error {
	for _, item := range strings.Split(flags[flag], ",") {
		name, text, named := strings.Cut(item, "=")
		if !named {
			name, text = "kube", item
		}
		if name != "kube" || text == "" {
			continue
		}
		parsed, err := clusters.ParseVersion(text)
		if err != nil {
			return fmt.Errorf("flag %s: %w", flag, err)
		}
		*v = minorOf(parsed)
	}
	return nil
}

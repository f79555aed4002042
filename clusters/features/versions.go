package features

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Versions are the minor versions that decide which gates a component has.
type Versions struct {
	// Emulated is the version whose gates the component has: its own, or an older one (--emulated-version).
	Emulated clusters.Version
	// MinCompatibility is the oldest version that it stays compatible with (--min-compatibility-version). Some specs of
	// gates are valid only if it is new enough.
	MinCompatibility clusters.Version
}

// VersionsOf returns the versions of a release's component without flags that change them.
func VersionsOf(release clusters.Version) Versions {
	return Versions{Emulated: minorOf(release), MinCompatibility: before(minorOf(release), release)}
}

// VersionsIn returns the versions of a release's component with these flags. It returns an error only for an invalid
// version: the component itself checks which values it supports.
func VersionsIn(release clusters.Version, flags map[string]string) (Versions, error) {
	v := VersionsOf(release)
	if err := readVersion(flags, clusters.EmulatedVersionFlag, &v.Emulated); err != nil {
		return v, err
	}
	v.MinCompatibility = before(v.Emulated, release)
	return v, readVersion(flags, clusters.MinCompatibilityVersionFlag, &v.MinCompatibility)
}

// before returns the default of --min-compatibility-version: the version before the emulated one, if the release can
// emulate that.
func before(emulated, release clusters.Version) clusters.Version {
	emulated.Minor = max(emulated.Minor-1, min(emulated.Minor, max(release.Minor-clusters.EmulatedMinors,
		clusters.OldestEmulatedMinor)))
	return emulated
}

// readVersion reads "1.36", or "kube=1.36" in a list for several components.
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

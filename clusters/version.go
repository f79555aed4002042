package clusters

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"golang.org/x/mod/semver"
)

var versionPattern = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+)((?:-(?:alpha|beta|rc)\.\d+)?))?$`)

// Version is a Kubernetes version. Its patch may be unspecified.
type Version struct {
	Major, Minor int
	// Patch is -1 if unspecified ("1.34").
	Patch int
	// Pre is the pre-release with its dash: "-rc.1".
	Pre string
}

// ParseVersion reads "1.34", "1.34.4", "v1.34.4" or "1.36.0-rc.1".
func ParseVersion(text string) (Version, error) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("version %q: want a Kubernetes version such as \"1.34\" or \"1.34.4\" (in quotes, or "+
			"YAML reads it as a number)", text)
	}
	v := Version{Patch: -1, Pre: m[4]}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		v.Patch, _ = strconv.Atoi(m[3])
	}
	return v, nil
}

// releasePattern matches the release or pre-release at the start of a version: "v1.34.4-eks-113cf36", "v1.34.4+k3s1",
// "v1.36.0-rc.1", "v1.37.0-alpha.2.15+0a1b2c3d-dirty".
var releasePattern = regexp.MustCompile(`^v?\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?`)

// ParseRelease reads the Kubernetes release or pre-release in the version that a component reports. It ignores the
// suffix of a distribution or of a development build.
func ParseRelease(text string) (Version, error) {
	release := releasePattern.FindString(text)
	if release == "" {
		return Version{}, fmt.Errorf("version %q names no release of Kubernetes", text)
	}
	return ParseVersion(release)
}

// Exact reports whether the version is one release.
func (v Version) Exact() bool { return v.Patch >= 0 }

// MinorString returns "1.34".
func (v Version) MinorString() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// String returns "1.34" or "1.34.4", without a leading v.
func (v Version) String() string {
	if !v.Exact() {
		return v.MinorString()
	}
	return fmt.Sprintf("%d.%d.%d%s", v.Major, v.Minor, v.Patch, v.Pre)
}

// Compare returns a negative number, zero or a positive number if v is older than, equal to or newer than o. An
// unspecified patch is older than any other, and rc.9 is older than rc.10.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch),
		semver.Compare("v0.0.0"+v.Pre, "v0.0.0"+o.Pre))
}

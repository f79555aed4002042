package features

import "k8s.io/apimachinery/pkg/util/version"

const (
	OrderlyFinish Feature = "OrderlyFinish"
	LateStart     Feature = "LateStart"
)

var gates = map[Feature]VersionedSpecs{
	OrderlyFinish: {
		{Version: version.MustParse("1.36"), Default: true, PreRelease: GA, LockToDefault: true},
		{Version: version.MustParse("1.33"), Default: false, PreRelease: Beta},
	},
	LateStart: {
		{Version: version.MustParse("1.30"), Default: false, PreRelease: Alpha},
		{Version: version.MustParse("1.30"), Default: true, PreRelease: Alpha, MinCompatibilityVersion: version.MustParse("1.30")},
	},
}

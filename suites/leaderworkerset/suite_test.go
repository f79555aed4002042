package leaderworkerset_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
)

// The tracks: one for each of two Kubernetes versions, and one each for the variant with annotations, the version from
// before the field, the upgrade in the middle of a transition, and the killed manager.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: leaderworkerset.Definition(), MaxTracks: 6}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

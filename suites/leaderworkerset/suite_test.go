package leaderworkerset_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// Each version of Kubernetes needs a cluster, the variant with annotations another, what is older than the field one,
// the upgrade in the middle of a transition one, and the end of the manager one.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: leaderworkerset.Definition(), MaxTracks: 6}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

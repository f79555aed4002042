package leaderworkerset_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// Each version of Kubernetes needs a cluster, the variant with annotations another, and what is older than the field one.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: leaderworkerset.Definition(), SlowFaults: true, MaxTracks: 4}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

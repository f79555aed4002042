package grove_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
)

// The tracks: one for all valid configurations on 1.36, eight for rejected configurations (an operator that starts all
// the same ends its scenario), one each for 1.35, 1.37, the upgrades, the outage, the default by name, a cluster without
// gangs and the two readings, three for exclusive scenarios with gangs, and one for a scenario that fills its nodes.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: grove.Definition(), MaxTracks: 21}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

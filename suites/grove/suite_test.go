package grove_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// The tracks: one for all valid configurations on 1.36, one for rejected configurations, one each for 1.35, 1.37, the
// upgrades and the outage, and three for exclusive scenarios with gangs.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: grove.Definition(), MaxTracks: 9}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

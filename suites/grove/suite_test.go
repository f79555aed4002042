package grove_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// All configurations with what needs but one, those that are rejected, 1.35, upgrades, the outage, and three gangs, each
// alone.
func suite() suitetest.Suite {
	return suitetest.Suite{Definition: grove.Definition(), MaxTracks: 9}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

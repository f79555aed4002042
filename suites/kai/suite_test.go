package kai_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// Each profile needs a cluster, each upgrade to it another, and the outage one.
func suite() suitetest.Suite {
	return suitetest.Suite{
		Definition: kai.Definition(), MaxTracks: 7, Liberties: []string{faults.AllTogether},
	}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

package kai_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

// The tracks: one for each of three profiles, one for each upgrade to a profile, and one for the outage.
func suite() suitetest.Suite {
	return suitetest.Suite{
		Definition: kai.Definition(), MaxTracks: 7, Liberties: []string{faults.AllTogether},
	}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

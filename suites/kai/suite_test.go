package kai_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/kai"
)

// The tracks: one for each of three profiles, one for each upgrade to a profile, and four outages: one for each of the
// two profiles with a webhook, one for the schema, and one for a webhook that fails open.
func suite() suitetest.Suite {
	return suitetest.Suite{
		Definition: kai.Definition(), MaxTracks: 10, Liberties: []string{faults.AllTogether},
	}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

package porch_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/porch"
)

func suite() suitetest.Suite {
	return suitetest.Suite{
		Definition: porch.Definition(), MaxTracks: 3, Liberties: []string{faults.AllTogether},
	}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

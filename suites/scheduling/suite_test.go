package scheduling_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/scheduling"
	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: scheduling.Definition(), MaxTracks: 16}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestScenarios(t *testing.T) { suite().Specs(t) }

func TestSuite(t *testing.T) { suite().Check(t) }

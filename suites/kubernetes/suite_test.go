package kubernetes

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/suitetest"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: Definition(), MaxTracks: 11}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestScenarios(t *testing.T) { suite().Specs(t) }

func TestSuite(t *testing.T) { suite().Check(t) }

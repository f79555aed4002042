package regressions_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/regressions"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: regressions.Definition(), MaxTracks: 40, CachedVersions: true}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

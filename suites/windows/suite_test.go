package windows_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/windows"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: windows.Definition(), MaxTracks: 24, CachedVersions: true}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

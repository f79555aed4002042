package kubernetes_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/kubernetes"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: kubernetes.Definition(), MaxTracks: 11}
}

func TestMain(m *testing.M) { suite().Main(m) }

func TestSuite(t *testing.T) { suite().Test(t) }

package scheduling_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/internal/suitetest"
	"github.com/rehearse-dev/rehearse/suites/scheduling"
)

func suite() suitetest.Suite {
	return suitetest.Suite{Definition: scheduling.Definition(), MaxTracks: 29}
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == ownCommand {
		if err := ownScheduler(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	suite().Main(m)
}

func TestSuite(t *testing.T) { suite().Test(t) }

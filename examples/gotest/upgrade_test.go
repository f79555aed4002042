// Package gotest shows how a project runs its own scenario in its Go tests.
package gotest

import (
	"testing"

	"github.com/rehearse-dev/rehearse"
)

func TestMain(m *testing.M) { rehearse.Main(m) }

// The scenario passes on local control planes; so does the project's test.
func TestUpgrade(t *testing.T) { rehearse.Run(t, rehearse.Options{}, "testdata/upgrade.yaml") }

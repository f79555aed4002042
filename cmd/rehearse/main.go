// Command rehearse tests upgrades, rollbacks and rejections on real Kubernetes components.
package main

import "github.com/rehearse-dev/rehearse/cmd/rehearse/program"

func main() { program.Main() }

package main

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/local/dns"
	"github.com/rehearse-dev/rehearse/clusters/local/etcd"
	"github.com/rehearse-dev/rehearse/clusters/local/nodes"
)

// newComponentCommand is how rehearse runs itself as a part of a local cluster, so that each part can be killed alone.
func newComponentCommand() *cobra.Command {
	command := &cobra.Command{Use: "component", Hidden: true, Short: "Run a part of a local cluster (used by rehearse itself)"}
	command.AddCommand(newEtcdCommand(), newNodesCommand(), newDNSCommand())
	return command
}

func newEtcdCommand() *cobra.Command {
	var config etcd.Config
	command := &cobra.Command{Use: "etcd", Args: cobra.NoArgs, RunE: func(command *cobra.Command, _ []string) error {
		return etcd.Run(command.Context(), config)
	}}
	command.Flags().StringVar(&config.DataDir, "data-dir", "", "folder of the data")
	command.Flags().StringVar(&config.ClientURL, "client-url", "", "where to serve clients")
	command.Flags().StringVar(&config.PeerURL, "peer-url", "", "where to serve peers")
	return command
}

func newNodesCommand() *cobra.Command {
	var kubeconfig string
	command := &cobra.Command{Use: "nodes", Args: cobra.NoArgs, RunE: func(command *cobra.Command, _ []string) error {
		return nodes.Simulate(command.Context(), kubeconfig)
	}}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	return command
}

func newDNSCommand() *cobra.Command {
	var config dns.Config
	command := &cobra.Command{Use: "dns", Args: cobra.NoArgs, RunE: func(command *cobra.Command, _ []string) error {
		return dns.Run(command.Context(), config)
	}}
	command.Flags().StringVar(&config.Address, "address", "", "where to answer")
	command.Flags().StringVar(&config.ReadyAddress, "ready-address", "", "where to tell readiness")
	command.Flags().StringVar(&config.Kubeconfig, "kubeconfig", "", "how to reach the API server")
	return command
}

package record

// Parts of a cluster's folder.
const (
	kubeconfigFile = "kubeconfig"
	ConfigFile     = "kind.yaml"
)

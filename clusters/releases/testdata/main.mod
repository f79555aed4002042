module rehearse.invalid/build

go 1.24.0

godebug (
	default=go1.24
	madvdontneed=1
)

require k8s.io/kubernetes v1.34.4-rc.1

replace example.com/one => example.com/fork v1.2.3

replace k8s.io/api => k8s.io/api v0.34.4-rc.1

replace k8s.io/client-go => k8s.io/client-go v0.34.4-rc.1

module k8s.io/kubernetes

go 1.24.0

godebug default=go1.24

godebug (
	madvdontneed=1
)

require (
	example.com/one v1.0.0
	k8s.io/api v0.0.0
	k8s.io/client-go v0.0.0
)

replace (
	example.com/one => example.com/fork v1.2.3
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/client-go => ./staging/src/k8s.io/client-go
)

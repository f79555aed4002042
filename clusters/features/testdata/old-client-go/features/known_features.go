package features

const OrderlyFinish Feature = "OrderlyFinish"

var gates = map[Feature]FeatureSpec{
	OrderlyFinish: {Default: true, PreRelease: Beta},
}

from ssread.train.runs import Run
from ssread.train.seeds import Stream, seeded


def test_every_seed_fold_and_stream_has_its_own_random_numbers():
    seeds = {
        seeded(Run({"name": "gcn"}, seed, fold), stream)
        for seed in range(5)
        for fold in range(10)
        for stream in (Stream.WEIGHTS, Stream.ORDER, Stream.DROPOUT)
    }
    assert len(seeds) == 150
    assert all(0 <= seed < 2**63 for seed in seeds)  # what torch.manual_seed takes


def test_both_readouts_get_the_same_random_numbers():
    with_ssread, with_global = (Run({"name": "gcn", "readout": readout}, 3, 1) for readout in ("ssread", "global"))
    assert seeded(with_ssread, Stream.ORDER) == seeded(with_global, Stream.ORDER)

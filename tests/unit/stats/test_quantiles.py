import pytest
from scipy.special import stdtr, stdtrit

from eval_assets.stats._quantiles import t_probability, t_quantile

DF = (1, 2, 3, 9, 19, 49, 199, 10_000)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("share", [0.01, 0.5, 0.6, 0.9, 0.975, 0.9995, 1 - 1e-7])
def test_quantiles_of_students_t_are_scipys(share: float, df: int) -> None:
    assert t_quantile(share, df=df) == pytest.approx(stdtrit(df, share), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("value", [-40.0, -2.0, 0.0, 0.3, 1.0, 2.5, 30.0])
def test_probabilities_of_students_t_are_scipys(value: float, df: int) -> None:
    assert t_probability(value, df=df) == pytest.approx(stdtr(df, value), rel=1e-9, abs=1e-14)
